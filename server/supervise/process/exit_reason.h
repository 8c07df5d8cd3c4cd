// ExitReason: how a worker process ended. Pure.
#pragma once

#include <optional>
#include <string>

#include "server/pool/lanes/worker_progress.h"
#include "server/telemetry/worker_exit.h"

namespace mpsd {

// Why the front end ended the worker.
struct ExitVerdict {
  WorkerExit exit = WorkerExit::kAsked;  // kHang, kProtocol or kAsked
  std::string text;                      // "no progress for 30 s"
};

struct ExitFacts {
  int wait_status = 0;
  std::optional<ExitVerdict> verdict;
  bool said_failure = false;
  bool was_stopped = false;       // from outside, when it was killed for its silence
  bool memory_was_short = false;  // the kernel killed it for that
};

struct ExitReason {
  WorkerExit exit = WorkerExit::kExit;
  std::string text;  // "signal 11 (SIGSEGV)", "exit 3", "hang: no progress for 30 s"
  WorkerEnd end = WorkerEnd::kKilled;

  bool counts = true;  // says something about the model, or what it runs on
};

// Crashes are a signal of the process's own doing, an exit while it served, and a hang: requests in
// it are suspects. Signals from outside say nothing about requests.
ExitReason DescribeExit(const ExitFacts& facts);

}  // namespace mpsd

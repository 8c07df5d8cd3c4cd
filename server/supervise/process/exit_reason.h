// ExitReason: how a worker process ended, by its wait status and by what the front end knows. Pure.
#pragma once

#include <optional>
#include <string>

#include "server/lanes/worker_progress.h"
#include "server/telemetry/worker_exit.h"

namespace mpsd {

// Why the front end killed it, or asked it to go.
struct ExitVerdict {
  WorkerExit exit = WorkerExit::kAsked;  // kHang, kProtocol or kAsked
  std::string text;                      // "no progress for 30 s"
};

struct ExitFacts {
  int wait_status = 0;
  std::optional<ExitVerdict> verdict;
  bool said_failure = false;      // it sent a Failure
  bool was_stopped = false;       // by a SIGSTOP from outside, when it was killed for its silence
  bool memory_was_short = false;  // it is one that the kernel killed for want of memory
};

struct ExitReason {
  WorkerExit exit = WorkerExit::kExit;
  std::string text;  // "signal 11 (SIGSEGV)", "exit 3", "hang: no progress for 30 s"
  WorkerEnd end = WorkerEnd::kKilled;

  bool counts = true;  // it says something about the model, or about what the model runs on
};

// A signal of the process's own doing, an exit while it served and a hang are crashes: the requests
// in it are suspects. SIGKILL, SIGTERM and SIGSTOP come from outside and say nothing about them.
ExitReason DescribeExit(const ExitFacts& facts);

}  // namespace mpsd

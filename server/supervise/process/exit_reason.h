// How a worker process ended, from its wait status and what is known besides. Pure.
#pragma once

#include <optional>
#include <string>

#include "server/dispatch/worker_end.h"
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
  bool was_stopped = false;       // by somebody's SIGSTOP, when it was killed for its silence
  bool memory_was_short = false;  // the kernel has killed for want of memory, and it is one
};

struct ExitReason {
  WorkerExit exit = WorkerExit::kExit;
  std::string text;  // "signal 11 (SIGSEGV)", "exit 3", "hang: no progress for 30 s"
  WorkerEnd end = WorkerEnd::kKilled;

  bool counts = true;  // it says something about the model, or what that runs on
};

// A signal that a process raises by its own doing, an exit while it served and a hang are a crash:
// what it ran is suspect. SIGKILL, SIGTERM and SIGSTOP come from outside and say nothing about it.
ExitReason DescribeExit(const ExitFacts& facts);

}  // namespace mpsd

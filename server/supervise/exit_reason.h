// How a worker process ended, from its wait status.
#pragma once

#include <string>

#include "server/dispatch/pool.h"

namespace mpsd {

struct ExitReason {
  std::string text;  // "signal 11 (SIGSEGV)", "exit 3"
  WorkerEnd end = WorkerEnd::kKilled;
};

// A signal that a process raises by its own doing, and an exit while it served, are a crash;
// SIGKILL and SIGTERM come from outside and say nothing about what ran.
ExitReason DescribeExit(int wait_status);

}  // namespace mpsd

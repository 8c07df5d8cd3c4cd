// ProcessUsage: the resources that a process has used so far, read from /proc.
//
// A rate alone does not tell a fast server from one that has more cores. The growth over a window,
// divided by the calls, is their cost; voluntary switches are their sleeps.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/status/statusor.h"

namespace mpsd::traffic {

// Counts since the process began. Plain data.
struct ProcessUsage {
  int64_t user_us = 0;
  int64_t system_us = 0;
  uint64_t voluntary_switches = 0;    // sleeps
  uint64_t involuntary_switches = 0;  // the kernel took the core away

  int64_t cpu_us() const { return user_us + system_us; }
};

// Adds up all threads. CPU time is as exact as the kernel's tick (usually 10 ms) and includes ended
// threads; switches do not. NOT_FOUND if there is no such process, or no /proc. Thread-safe.
absl::StatusOr<ProcessUsage> ReadProcessUsage(pid_t pid);

}  // namespace mpsd::traffic

// ProcessUsage: what a process has used so far, read from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/status/statusor.h"

namespace mpsd::load {

struct ProcessUsage {
  int64_t user_us = 0;
  int64_t system_us = 0;
  uint64_t voluntary_switches = 0;    // it went to sleep
  uint64_t involuntary_switches = 0;  // it was put aside

  int64_t cpu_us() const { return user_us + system_us; }
};

// Of all threads of the process. CPU time has the grain of the kernel's tick (10 ms as a rule) and
// counts ended threads; switches are those of the threads that live. NOT_FOUND where there is no
// such process, or no /proc at all. Thread-safe.
absl::StatusOr<ProcessUsage> ReadProcessUsage(pid_t pid);

}  // namespace mpsd::load

// ProcessStats: the operating system's figures about the front end, for the metrics page.
#pragma once

#include <cstdint>

namespace mpsd {

// A value.
struct ProcessStats {
  uint64_t resident_bytes = 0;
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;    // the soft limit
  double cpu_seconds = 0;  // user and system time of all threads
};

// Asks the system at each call. Unknown figures are 0. Thread-safe.
ProcessStats ReadProcessStats();

}  // namespace mpsd

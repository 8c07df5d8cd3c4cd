// ProcessStats: what the operating system says about this process, for the metrics page.
#pragma once

#include <cstdint>

namespace mpsd {

struct ProcessStats {
  uint64_t resident_bytes = 0;
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;  // the soft limit
  double cpu_seconds = 0;
};

// Asks the system anew at each call. A figure that the system does not tell is 0. Thread-safe.
ProcessStats ReadProcessStats();

}  // namespace mpsd

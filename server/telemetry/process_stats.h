// ProcessStats: the operating system's figures about this process, for the metrics page.
//
// Prometheus' clients show them as process_…, so that one dashboard fits every server;
// metric_families has the names. They cover only the front end: StatusBoard
// (server/supervise/status_board.h) has the workers' memory.
#pragma once

#include <cstdint>

namespace mpsd {

// Figures of one moment. A value.
struct ProcessStats {
  uint64_t resident_bytes = 0;
  uint64_t open_fds = 0;   // each connection, worker and segment has at least one
  uint64_t max_fds = 0;    // the soft limit
  double cpu_seconds = 0;  // user and system time of all threads since the start
};

// Asks the system at each call: a few system calls, and one look at the list of descriptors. Called
// by scrapes, never on the request's path. Unknown figures are 0; the call does not fail.
// Thread-safe.
ProcessStats ReadProcessStats();

}  // namespace mpsd

// ProcessStats: what the operating system says about this process, for the metrics page.
//
// Prometheus' clients show these figures under names of their own (process_…), so that one
// dashboard fits every server; metric_families has the names. They are about the front end only:
// StatusBoard (server/supervise/status_board.h) tells the memory of the workers.
#pragma once

#include <cstdint>

namespace mpsd {

// Figures of one moment. A value.
struct ProcessStats {
  uint64_t resident_bytes = 0;
  uint64_t open_fds = 0;   // each connection, worker and segment has at least one
  uint64_t max_fds = 0;    // the soft limit
  double cpu_seconds = 0;  // of all threads, in user and system mode, since the start
};

// Asks the system anew at each call: a few system calls, and one look at the list of descriptors.
// Called by scrapes, never on the request's path. A figure that the system does not tell is 0; the
// call itself does not fail. Thread-safe.
ProcessStats ReadProcessStats();

}  // namespace mpsd

// HealthSource: tells probes whether the daemon is alive and ready.
//
// The manager that asked restarts a process that is not *live*. A process that is not *ready* is
// left alone, and gets no requests for a while:
//
//              start   models settle   one model is down   lame duck   drain
//   live        yes         yes               yes             yes       yes
//   ready       no          yes               no, or yes      no        no
//                                             with "readiness": "any"
#pragma once

#include <string>
#include <vector>

namespace mpsd {

struct Readiness {
  bool ready = false;
  std::string reason;                       // shown to clients, so without a path or pid
  std::vector<std::string> unready_models;  // models that should serve but do not
};

// Connects the HTTP server, which knows no models, with the daemon. The daemon implements it over
// the ModelDirectory and outlives the server. Called on the HTTP server's threads, by several
// probes at a time. Thread-safe. Both methods return at once: they only read what other threads
// maintain, and no probe waits for a worker.
class HealthSource {
 public:
  virtual ~HealthSource() = default;

  // False asks the process's supervisor to restart it.
  virtual bool Live() = 0;

  // Whether requests are welcome. False during the start, while the models do not meet the
  // readiness rule, and during a stop.
  virtual Readiness Ready() = 0;
};

}  // namespace mpsd

// HealthSource: tells probes whether the daemon is alive and ready.
//
// A process that is not *live* is restarted by the manager that asked. A process that is not
// *ready* gets no requests for a while:
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
  std::vector<std::string> unready_models;  // should serve but do not
};

// The daemon implements it and outlives the server. Called on the HTTP server's threads.
// Thread-safe. Both methods return at once: no probe waits for a worker.
class HealthSource {
 public:
  virtual ~HealthSource() = default;

  virtual bool Live() = 0;

  virtual Readiness Ready() = 0;
};

}  // namespace mpsd

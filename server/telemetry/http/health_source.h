// HealthSource: says whether the daemon is alive and ready, for probes.
//
// Two questions, with two consequences. A process that is not *live* is restarted by the manager
// that asked; one that is not *ready* is left alone, and gets no requests for a while:
//
//              start   models settle   one model is down   lame duck   drain
//   live        yes         yes               yes             yes       yes
//   ready       no          yes               no, or yes      no        no
//                                             with "readiness": "any"
#pragma once

#include <string>
#include <vector>

namespace mpsd {

// The state of one moment. A value.
struct Readiness {
  bool ready = false;
  std::string reason;                       // why not; clients see it, so it has no path and no pid
  std::vector<std::string> unready_models;  // the models that do not serve, and should
};

// The seam between the HTTP server, which knows no models, and the daemon, which implements it over
// the ModelDirectory and outlives the server. Asked on the HTTP server's threads, by several probes
// at a time. Thread-safe. Both methods return at once: they only read what other threads maintain,
// and a probe never waits for a worker.
class HealthSource {
 public:
  virtual ~HealthSource() = default;

  // Whether the process works. False asks its supervisor to restart it.
  virtual bool Live() = 0;

  // Whether requests are welcome. False during the start, while the models do not meet the rule of
  // readiness, and during a stop.
  virtual Readiness Ready() = 0;
};

}  // namespace mpsd

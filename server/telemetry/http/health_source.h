// HealthSource: says whether the daemon is alive and ready, for probes.
#pragma once

#include <string>
#include <vector>

namespace mpsd {

// A value.
struct Readiness {
  bool ready = false;
  std::string reason;                       // why not; clients see it, so it has no path and no pid
  std::vector<std::string> unready_models;  // the configured models that do not serve
};

// Implemented by the daemon, asked by the HTTP server's threads. Thread-safe. Both methods return
// at once: they only read what other threads maintain.
class HealthSource {
 public:
  virtual ~HealthSource() = default;

  // Whether the process works. False asks its supervisor to restart it.
  virtual bool Live() = 0;

  // Whether requests are welcome. False during the start, while a model is down, and during a stop.
  virtual Readiness Ready() = 0;
};

}  // namespace mpsd

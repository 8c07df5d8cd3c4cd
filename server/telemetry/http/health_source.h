// HealthSource: who knows whether the daemon is alive and ready; what probes ask.
#pragma once

#include <string>
#include <vector>

namespace mpsd {

struct Readiness {
  bool ready = false;
  std::string reason;                       // why not, fit for a client: no path, no pid
  std::vector<std::string> unready_models;  // names of the configured models that do not serve
};

// Thread-safe. Both calls return at once: they read what others keep up to date.
class HealthSource {
 public:
  virtual ~HealthSource() = default;

  // The process does its work. False asks whoever watches it to start it anew.
  virtual bool Live() = 0;

  // Requests are welcome. False while starting, while a model is down and while stopping.
  virtual Readiness Ready() = 0;
};

}  // namespace mpsd

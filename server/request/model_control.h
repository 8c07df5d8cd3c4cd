// ModelControl: questions about the set of models, and changes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace mpsd {

// A known version. A row of RepositoryIndex.
struct ModelListing {
  std::string name;
  std::string version;  // empty: they cannot be listed
  std::string state;    // "READY", "LOADING", "UNLOADING", "UNAVAILABLE"
  std::string reason;   // names files, hidden from clients
};

// For `mpsd ps`.
struct ReloadReport {
  bool ok = true;
  int64_t time_ms = 0;  // since the epoch; 0: no reload yet
  std::string text;     // the changes, or why it failed
};

// Stands between control/ and the reloader. No method blocks: the reloader's threads work later,
// one job at a time for a model. After a failed job, all that it did not replace still serves. One
// waiting job too many is refused. Implemented by models/reload/. Thread-safe.
class ModelControl {
 public:
  // Called exactly once: on a reloader's thread when the job has ended, before Load() or Unload()
  // returns if the job is refused, or when the daemon stops. The texts name files, for operators.
  using Done = std::function<void(const absl::Status&)>;

  virtual ~ModelControl() = default;

  // All known versions, and what cannot be served.
  virtual std::vector<ModelListing> List() const = 0;

  // The last one that SIGHUP asked for; Load() and Unload() do not change it.
  virtual ReloadReport LastReload() const = 0;

  // Loads the versions that the model's config asks for, or brings them up to date. `config` is
  // JSON of Triton's ModelConfig and overrides the config; it may be empty.
  virtual void Load(const std::string& name, const std::string& config, Done done) = 0;

  // Stops all versions. Accepted requests are still answered; the job does not wait for them.
  // NOT_FOUND if no version is known, UNAVAILABLE if the config forbids it.
  virtual void Unload(const std::string& name, Done done) = 0;
};

}  // namespace mpsd

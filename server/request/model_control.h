// ModelControl: what operators and clients may ask about the set of models, and of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace mpsd {

// One version of a model that is known, served or not.
struct ModelListing {
  std::string name;
  std::string version;  // empty: the versions cannot be listed
  std::string state;    // "READY", "LOADING", "UNLOADING", "UNAVAILABLE"
  std::string reason;   // why it is not ready; names files, which clients must not see
};

// How the last reload of the config went.
struct ReloadReport {
  bool ok = true;
  int64_t time_ms = 0;  // since the epoch; 0: there was none
  std::string text;     // what the reload did, or why it failed
};

// Implemented by reload/, called by control/. No method blocks: loading and unloading happen later,
// one job at a time. `done` is called exactly once, when the job has ended, from any thread.
// Thread-safe.
class ModelControl {
 public:
  using Done = std::function<void(const absl::Status&)>;

  virtual ~ModelControl() = default;

  virtual std::vector<ModelListing> List() const = 0;
  virtual ReloadReport LastReload() const = 0;

  // Loads the versions of a model that its config asks for, or brings them up to date. `config` is
  // JSON of Triton's ModelConfig and overrides the configured values; empty: overrides none.
  virtual void Load(const std::string& name, const std::string& config, Done done) = 0;

  // Stops serving all versions of a model. Requests that were accepted still get their answers.
  virtual void Unload(const std::string& name, Done done) = 0;
};

}  // namespace mpsd

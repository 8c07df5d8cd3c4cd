// What operators and clients may ask of the set of models.
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
  std::string version;  // empty: it cannot be told which there are
  std::string state;    // "READY", "LOADING", "UNLOADING", "UNAVAILABLE"
  std::string reason;   // why it is not ready; may name files, which clients must not see
};

// How the last reload of the config went.
struct ReloadReport {
  bool ok = true;
  int64_t time_ms = 0;  // since the epoch; 0: there was none
  std::string text;     // what was done, or why not
};

// Thread-safe. Implemented by reload/. Nothing here blocks: what takes long is done later, one
// thing after the other, and `done` is called once it is, from whatever thread.
class ModelControl {
 public:
  using Done = std::function<void(const absl::Status&)>;

  virtual ~ModelControl() = default;

  virtual std::vector<ModelListing> List() const = 0;
  virtual ReloadReport LastReload() const = 0;

  // Loads all versions of a model that are wanted, or brings them up to date. `config` is JSON of
  // Triton's ModelConfig; what it says takes the place of what is configured. Empty: none.
  virtual void Load(const std::string& name, const std::string& config, Done done) = 0;

  // All versions of a model are served no more; requests inside are finished.
  virtual void Unload(const std::string& name, Done done) = 0;
};

}  // namespace mpsd

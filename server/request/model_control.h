// ModelControl: what operators and clients may ask about and of the set of models.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace mpsd {

// One known version of a model, served or not. A row of RepositoryIndex.
struct ModelListing {
  std::string name;
  std::string version;  // empty: the versions cannot be listed
  std::string state;    // "READY", "LOADING", "UNLOADING", "UNAVAILABLE"
  std::string reason;   // why it is not ready; names files, hidden from clients
};

// The outcome of the last reload of the config, for `mpsd ps`.
struct ReloadReport {
  bool ok = true;
  int64_t time_ms = 0;  // since the epoch; 0: no reload yet
  std::string text;     // changes of the reload, or why it failed
};

// Stands between the methods of control/ and the reloader, which they must not know. Beside the
// request's path: requests find their generation in the ModelDirectory.
//
// No method blocks: the reloader's threads load and unload later, one job at a time for a model. A
// job that fails leaves every generation serving that it did not replace. Waiting jobs are bounded;
// one more is refused with a status. Implemented by models/reload/, called by control/.
// Thread-safe.
class ModelControl {
 public:
  // Called exactly once for a job, with its outcome. It is called on a reloader's thread when the
  // job has ended, before Load() or Unload() returns if the job is refused, or when the daemon
  // stops. The texts are for operators and name files.
  using Done = std::function<void(const absl::Status&)>;

  virtual ~ModelControl() = default;

  // All known versions, and what cannot be served, with the reason.
  virtual std::vector<ModelListing> List() const = 0;

  // The last reload that SIGHUP asked for; Load() and Unload() do not change it.
  virtual ReloadReport LastReload() const = 0;

  // Loads the versions of a model that its config asks for, or brings them up to date. The text
  // `config` is JSON of Triton's ModelConfig and overrides configured values; it may be empty.
  virtual void Load(const std::string& name, const std::string& config, Done done) = 0;

  // Stops serving all versions of a model. Accepted requests still get their answers; the job does
  // not wait for them. NOT_FOUND if no version is known, UNAVAILABLE if the config does not allow
  // it.
  virtual void Unload(const std::string& name, Done done) = 0;
};

}  // namespace mpsd

// ModelControl: what operators and clients may ask about the set of models, and of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace mpsd {

// One version of a model that is known, served or not. A row of RepositoryIndex.
struct ModelListing {
  std::string name;
  std::string version;  // empty: the versions cannot be listed
  std::string state;    // "READY", "LOADING", "UNLOADING", "UNAVAILABLE"
  std::string reason;   // why it is not ready; names files, which clients must not see
};

// How the last reload of the config went. `mpsd ps` shows it.
struct ReloadReport {
  bool ok = true;
  int64_t time_ms = 0;  // since the epoch; 0: there was none
  std::string text;     // what the reload did, or why it failed
};

// Stands between the methods of control/ and the reloader, which they must not know. Beside the
// request's path: requests find their generation in the ModelDirectory and never come here.
//
// No method blocks: loading and unloading happen later, on the reloader's threads, one job at a
// time for a model. A job that fails leaves every generation serving that it did not replace. The
// jobs that wait are bounded; one more is refused with a status. Implemented by reload/, called by
// control/. Thread-safe.
class ModelControl {
 public:
  // Called exactly once for a job, with its outcome: on a reloader's thread when the job has ended,
  // before Load() or Unload() returns where the job is refused, or when the daemon stops.
  // The texts are for operators; they name files.
  using Done = std::function<void(const absl::Status&)>;

  virtual ~ModelControl() = default;

  // All versions that are known, and what cannot be served, with the reason.
  virtual std::vector<ModelListing> List() const = 0;

  // Of the reloads that SIGHUP asked for; a Load() or Unload() does not change it.
  virtual ReloadReport LastReload() const = 0;

  // Loads the versions of a model that its config asks for, or brings them up to date. `config` is
  // JSON of Triton's ModelConfig and overrides the configured values; empty: overrides none.
  virtual void Load(const std::string& name, const std::string& config, Done done) = 0;

  // Stops serving all versions of a model. Requests that were accepted still get their answers; the
  // job ends without waiting for them. NOT_FOUND when no version of it is known, UNAVAILABLE where
  // the config does not allow it.
  virtual void Unload(const std::string& name, Done done) = 0;
};

}  // namespace mpsd

// Generations: the known models, and the serving generation of each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/config/config.h"
#include "server/models/reload/generation_maker.h"
#include "server/request/model_control.h"
#include "server/request/served_model.h"

namespace mpsd {

// In List(), for a model that a client has unloaded.
inline constexpr char kUnloadedReason[] = "unloaded";

// The one way to change what is served. In a swap the new generation warms up while the old one
// serves; both count against the memory budget. If the new one fails, nothing has changed. Owned by
// the reloader. Called by main at the start, then by the reloader's threads, one at a time for a
// model. Thread-safe.
//
// Invariants:
//   1. A model is served only if it is known.
//   2. Each generation is either published or retired, and retired once.
//   3. Two generations of one model and version share their counters.
class Generations {
 public:
  using GiveUp = std::function<bool()>;

  Generations(GenerationMaker* maker, ModelDirectory* models) : maker_(maker), models_(models) {}

  // Does not wait for workers: the model is not ready until one serves.
  // REQUIRES: the model is not served.
  void Begin(const ModelConfig& model, absl::Span<const ModelConfig> others);

  // `source` is the model by config or repository, `model` with what a client overrode. Blocks
  // until the new generation serves, or returns why not.
  absl::Status Swap(const ModelConfig& source, const ModelConfig& model, const GiveUp& give_up);

  // The model stays known. Does not wait for the requests inside.
  void Unload(const ModelKey& key);

  // Unload(), and forgets the model.
  void Remove(const ModelKey& key);

  // Makes the model known without serving it; List() gives `reason`.
  void Know(const ModelConfig& source, const std::string& reason);

  bool IsServed(const ModelKey& key) const;
  // Whether its workers do not start again.
  bool HasFailed(const ModelKey& key) const;
  // Whether it is ready, and made from exactly this config.
  bool IsUpToDate(const ModelConfig& model) const;

  // All, or with one name.
  std::vector<ModelConfig> Sources() const;
  std::vector<ModelConfig> Sources(const std::string& name) const;

  std::vector<ModelListing> List() const;

 private:
  struct Known {
    ModelConfig source;
    ModelConfig model;                        // the config of `generation`
    std::shared_ptr<ServedModel> generation;  // null while not served
    std::weak_ptr<ServedModel> leaving;       // was unloaded; expires with its last request
    bool loading = false;
    std::string reason;  // why the last load failed, or "unloaded"
  };

  std::vector<ModelConfig> ServedBeside(const ModelKey& key) const;
  std::shared_ptr<ModelMetrics> CountersOf(const ModelKey& key);
  ModelListing ListingOf(const ModelKey& key, const Known& known) const;

  GenerationMaker* const maker_;
  ModelDirectory* const models_;

  mutable absl::Mutex mu_;
  // A model that comes back while its last generation drains continues the counters.
  std::map<ModelKey, std::weak_ptr<ModelMetrics>> counters_ ABSL_GUARDED_BY(mu_);
  std::map<ModelKey, Known> known_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

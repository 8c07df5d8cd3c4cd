// Generations: the models that are known, and which generation of each is served.
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
#include "server/reload/generation_maker.h"
#include "server/request/model_control.h"
#include "server/request/served_model.h"

namespace mpsd {

// What List() says of a model that a client has unloaded.
inline constexpr char kUnloadedReason[] = "unloaded";

// The one way to change what is served. Owned by the reloader. Beside the request's path: requests
// find a generation through the ModelDirectory. Called by main while the daemon starts, by the
// reloader's threads afterwards, of which one at a time works on a model. Thread-safe.
//
// A swap: the new generation's workers start and warm up while the old one serves, and both count
// against the memory budget → requests go to the new one → the old one finishes what is inside, and
// ends. When the new generation fails nothing has changed.
//
// Invariants:
//   1. A model is served only if it is known.
//   2. Each generation that was made is either published or retired, and retired once.
//   3. Two generations of one model and version count on the same counters.
class Generations {
 public:
  using GiveUp = std::function<bool()>;

  Generations(GenerationMaker* maker, ModelDirectory* models) : maker_(maker), models_(models) {}

  // Serves the model, beside `others`, without waiting for its workers: the model is not ready
  // until one serves. REQUIRES: the model is not served.
  void Begin(const ModelConfig& model, absl::Span<const ModelConfig> others);

  // Swaps in a generation made of `model`. `source` is the same model as the config or the
  // repository has it; the two differ where a client overrode the config. Blocks until the new
  // generation serves, or returns why it does not.
  absl::Status Swap(const ModelConfig& source, const ModelConfig& model, const GiveUp& give_up);

  // Stops serving the model, which stays known. Does not wait for the requests that are inside.
  void Unload(const ModelKey& key);

  // Unload(), and forgets the model.
  void Remove(const ModelKey& key);

  // Makes the model known without serving it; `reason` is what List() says of it.
  void Know(const ModelConfig& source, const std::string& reason);

  bool IsServed(const ModelKey& key) const;
  // True when the model is served by a generation whose workers do not start again.
  bool HasFailed(const ModelKey& key) const;
  // True when the model is served, ready, and made of exactly this config.
  bool IsUpToDate(const ModelConfig& model) const;

  // The configs that the known models were made of: all, or those of one name.
  std::vector<ModelConfig> Sources() const;
  std::vector<ModelConfig> Sources(const std::string& name) const;

  std::vector<ModelListing> List() const;

 private:
  struct Known {
    ModelConfig source;
    ModelConfig model;                        // what `generation` was made of
    std::shared_ptr<ServedModel> generation;  // null while it is not served
    std::weak_ptr<ServedModel> leaving;       // was unloaded; expires with its last request
    bool loading = false;
    std::string reason;  // why the last load failed, or that it was unloaded
  };

  std::vector<ModelConfig> ServedBeside(const ModelKey& key) const;
  std::shared_ptr<ModelMetrics> CountersOf(const ModelKey& key);
  ModelListing ListingOf(const ModelKey& key, const Known& known) const;

  GenerationMaker* const maker_;
  ModelDirectory* const models_;

  mutable absl::Mutex mu_;
  // A model that comes back while its last generation drains goes on counting on the same counters.
  std::map<ModelKey, std::weak_ptr<ModelMetrics>> counters_ ABSL_GUARDED_BY(mu_);
  std::map<ModelKey, Known> known_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

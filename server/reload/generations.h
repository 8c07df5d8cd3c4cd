// Generations: which generation of each model is served, and the one way to change that.
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

// Owned by the reloader. List() is thread-safe; everything else is called from one thread at a
// time: main while the daemon starts, the reloader's thread afterwards.
//
// A swap: the new generation's workers are started and warmed while the old one serves, and both
// count against the memory budget → requests go to the new one → the old one finishes what is
// inside and ends. A candidate that fails changes nothing.
class Generations {
 public:
  using GiveUp = std::function<bool()>;

  Generations(GenerationMaker* maker, ModelDirectory* models) : maker_(maker), models_(models) {}

  // Serves the model, beside `others`, without waiting for its workers: until they are there it is
  // not ready.
  void Begin(const ModelConfig& model, absl::Span<const ModelConfig> others);

  // Swaps in a generation made of `model`, which `source` in the config or the repository stands
  // for: it is `source` itself unless a client has changed it. Blocks until it serves.
  absl::Status Swap(const ModelConfig& source, const ModelConfig& model, const GiveUp& give_up);

  // Serves it no more, but knows it. Does not wait for the requests inside.
  void Unload(const ModelKey& key);

  // Unload(), and it is not known any more.
  void Remove(const ModelKey& key);

  // A model that is known, but that is not to be loaded now.
  void Know(const ModelConfig& source, const std::string& reason);

  bool IsServed(const ModelKey& key) const;
  // Served, ready, and made of exactly this.
  bool IsUpToDate(const ModelConfig& model) const;

  // What the known models were made of: all, or those of that name.
  std::vector<ModelConfig> Sources() const;
  std::vector<ModelConfig> Sources(const std::string& name) const;

  std::vector<ModelListing> List() const;

 private:
  struct Known {
    ModelConfig source;
    ModelConfig model;                        // what `generation` was made of
    std::shared_ptr<ServedModel> generation;  // null while it is not served
    std::weak_ptr<ServedModel> leaving;       // unloaded; gone when its last request is
    bool loading = false;
    std::string reason;  // why the last load failed, or that it was unloaded
  };

  std::vector<ModelConfig> ServedBeside(const ModelKey& key) const;
  std::shared_ptr<ModelMetrics> CountersOf(const ModelKey& key);
  ModelListing ListingOf(const ModelKey& key, const Known& known) const;

  GenerationMaker* const maker_;
  ModelDirectory* const models_;

  // Owned by the calling thread. A model that comes again while its last generation drains goes on
  // counting where that one does.
  std::map<ModelKey, std::weak_ptr<ModelMetrics>> counters_;

  mutable absl::Mutex mu_;
  std::map<ModelKey, Known> known_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

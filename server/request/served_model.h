// ModelDirectory: finds the generation that serves a model; ServedModel: one such generation.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/link/model_spec.h"
#include "server/request/model_facts.h"
#include "server/request/request.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// One generation of a model and version, as the request's path sees it. Shared by the directory
// while it is published, by its supervisor while it has workers, and by each request inside; goes
// with the last of them. Knows neither workers nor memory: requests reach both through `queue`.
// Thread-safe: all fields but the two atomics are constant once `ready` has been true.
struct ServedModel {
  // A generation that replaces another one gets its `counters`, so that metrics never fall to zero.
  explicit ServedModel(std::shared_ptr<ModelMetrics> counters = std::make_shared<ModelMetrics>())
      : shared_metrics(std::move(counters)), metrics(*shared_metrics) {}

  std::string name;
  std::string version = "1";
  std::string platform;                           // "pytorch_libtorch", "synthetic"
  std::map<std::string, std::string> parameters;  // from the config, for operators
  ModelFacts facts;
  ModelSpec spec;  // complete once `ready` was true
  const std::shared_ptr<ModelMetrics> shared_metrics;
  ModelMetrics& metrics;
  std::atomic<bool> ready{false};       // at least one worker serves it now
  std::atomic<bool> loaded{false};      // the spec is complete; stays true
  std::unique_ptr<RequestQueue> queue;  // reads the fields above, so it is destroyed first
};

// "x:FP32[-1,16] -> y:FP32[-1,4]", with the batch dim: the spec as operators see it. Pure.
std::string SpecText(const ModelSpec& spec);

// How far the daemon's life has got. It only goes forward.
enum class ServingStage : uint8_t {
  kStarting,  // refuses requests
  kServing,   // accepts requests for models that are ready
  kLameDuck,  // reports that it is not ready, so that no new client comes; accepts requests
  kExiting,   // refuses requests; those inside end
};

// All models by name and version: admission and the control methods look generations up, reload/
// publishes and withdraws them. Owned by the daemon; outlives the server and all models.
// Thread-safe.
class ModelDirectory {
 public:
  // From now on requests for the model's name and version go to this generation. Returns the
  // generation that they went to before; null if none.
  std::shared_ptr<ServedModel> Publish(std::shared_ptr<ServedModel> model);

  // From now on requests no longer find this generation. Does nothing when another generation has
  // replaced it.
  void Withdraw(const ServedModel& model);

  // The published generation of that version; null when there is none. An empty version means the
  // highest one that is ready, or the highest one when none is.
  std::shared_ptr<ServedModel> Find(absl::string_view name, absl::string_view version = "") const;

  // From now on the version is known, published or not: clients that ask for it learn that it is
  // not ready, instead of that there is no such model.
  void Know(const std::string& name, const std::string& version);

  // The opposite of Know().
  void Forget(const std::string& name, const std::string& version);

  // True when the version is known. An empty version means any.
  bool Knows(absl::string_view name, absl::string_view version = "") const;

  // The published versions of a model, the highest first.
  std::vector<std::string> Versions(absl::string_view name) const;

  // All published generations, in the order in which their models were first published.
  std::vector<std::shared_ptr<ServedModel>> models() const;

  // One atomic for all of it, so that readiness and admission change at the same moment.
  std::atomic<ServingStage> stage{ServingStage::kStarting};

  // True in kServing while every published model is ready.
  bool AllReady() const;

 private:
  mutable absl::Mutex mu_;
  std::vector<std::shared_ptr<ServedModel>> models_ ABSL_GUARDED_BY(mu_);
  // Of each name, the highest version first.
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<ServedModel>>> by_name_
      ABSL_GUARDED_BY(mu_);
  std::set<std::pair<std::string, std::string>> known_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

// ServedModel and ModelDirectory: which models there are, and how to reach them.
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

// One generation of a model and version, as the request path sees it. Shared: by the directory
// while it is the one that is served, by its supervisor while it has workers, and by each request
// that is inside.
// Thread-safe: everything but the two atomics is constant once `ready` was true for the first time.
struct ServedModel {
  // `counters` are those of the generation before it, so that nothing begins again at zero.
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
  std::atomic<bool> ready{false};       // at least one worker serves it
  std::atomic<bool> loaded{false};      // the spec is known
  std::unique_ptr<RequestQueue> queue;  // reads what stands above
};

// "x:FP32[-1,16] -> y:FP32[-1,4]", the batch dim included: how people are shown a spec.
std::string SpecText(const ModelSpec& spec);

// How far the daemon is. It never goes back.
enum class ServingStage : uint8_t {
  kStarting,  // takes no requests yet
  kServing,   // takes requests for what is ready
  kLameDuck,  // is not ready any more, so that nobody new is sent here; takes requests
  kExiting,   // takes none; what is inside ends
};

// Thread-safe.
class ModelDirectory {
 public:
  // Requests for its name and version go to this generation from now on. Returns the one that they
  // went to before; null if none.
  std::shared_ptr<ServedModel> Publish(std::shared_ptr<ServedModel> model);

  // Requests for it find nothing any more, unless another generation has taken its place.
  void Withdraw(const ServedModel& model);

  // The generation that is served. An empty version is the highest that is ready, or the highest
  // where none is. Null when there is none.
  std::shared_ptr<ServedModel> Find(absl::string_view name, absl::string_view version = "") const;

  // From now on this version is known though it may not be served: who asks for it is told that it
  // is not ready, not that there is no such model.
  void Know(const std::string& name, const std::string& version);

  // The opposite of Know().
  void Forget(const std::string& name, const std::string& version);

  // Whether this version, or any where it is empty, is known.
  bool Knows(absl::string_view name, absl::string_view version = "") const;

  // The versions of a model that are served, the highest first.
  std::vector<std::string> Versions(absl::string_view name) const;

  // All that are served, in the order of their first publication.
  std::vector<std::shared_ptr<ServedModel>> models() const;

  // One word, so that nobody who has seen that the daemon is not ready any more is still served by
  // one that has no lame-duck time.
  std::atomic<ServingStage> stage{ServingStage::kStarting};

  // True while the daemon serves and every model is ready.
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

// ServedModel: one generation; ModelDirectory: finds it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/link/model_spec.h"
#include "proto/link/precision.h"
#include "server/request/answer_cache.h"
#include "server/request/cache_scope.h"
#include "server/request/graph/model_step.h"
#include "server/request/lane_needs.h"
#include "server/request/queue_policy.h"
#include "server/request/request.h"
#include "server/request/sequence_policy.h"
#include "server/request/step_members.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

class TextEncoder;

// How a model is run, by its config and placement. Constant once the model is in the directory.
struct ModelFacts {
  std::string backend;                         // "pytorch", "synthetic"; empty: a model of steps
  std::vector<std::string> devices = {"cpu"};  // by process
  std::string device_note;                     // why "auto" passed over a gpu; for operators
  uint32_t lanes = 1;                          // in a process
  uint32_t kept_files = 0;                     // held open for workers that start later
  int64_t max_delay_ns = 0;
  std::vector<uint32_t> preferred_sizes;  // batch sizes
  uint32_t max_request_rows = 0;          // by the config; 0: as a batch
  uint64_t max_batch_tokens = 0;          // in a batch; 0: any number
  QueuePolicies queue;
  LaneNeeds lane_needs;
  std::map<std::string, std::string> input_formats;  // by input: "FORMAT_NCHW"
  std::map<std::string, std::string> label_files;    // by output
  ModelTask task = ModelTask::kAuto;                 // by the config
  std::vector<ModelTask> default_for;                // tasks of requests that name no model
  CacheScope response_cache = CacheScope::kOff;
  uint64_t answer_bytes_max = UINT64_MAX;   // limit of a request's outputs
  std::vector<ModelStep> steps;             // not empty: it runs other models
  std::optional<SequencePolicy> sequences;  // set: it has state
};

// One generation of a model and version, as requests see it. The directory shares it while it is
// published, its supervisor while it has workers, each request while inside. Thread-safe: all but
// the atomics is constant once `ready` has been true.
struct ServedModel {
  // A replacement inherits the counters, so that metrics never fall.
  explicit ServedModel(std::shared_ptr<ModelMetrics> counters = std::make_shared<ModelMetrics>())
      : shared_metrics(std::move(counters)), metrics(*shared_metrics) {}

  std::string name;
  std::string version = "1";
  std::string platform;
  std::map<std::string, std::string> parameters;  // for operators
  ModelFacts facts;
  // By output; complete once `spec` is.
  std::map<std::string, std::vector<std::string>> labels;
  // UNIMPLEMENTED: the model takes only tensors. Another error, for operators: why the tokenizer
  // cannot be used.
  absl::StatusOr<std::shared_ptr<const TextEncoder>> texts =
      absl::UnimplementedError("the model takes no texts");
  ModelSpec spec;
  // Complete once `spec` is.
  Precision precision = Precision::kAsSaved;
  std::string precision_note;
  const std::shared_ptr<ModelMetrics> shared_metrics;
  ModelMetrics& metrics;
  std::atomic<bool> ready{false};              // a worker serves it, or it needs none
  std::atomic<bool> loaded{false};             // the spec is complete; stays true
  std::atomic<bool> settled{false};            // its first start has ended; stays true
  std::unique_ptr<const StepMembers> members;  // null: it has its own workers
  std::unique_ptr<AnswerCache> cache;          // null: no answer is kept
  std::unique_ptr<RequestQueue> queue;         // reads the fields above: destroyed first
  RowQueue* pool = nullptr;                    // in the queue, or the queue; null: a model of steps

  // Limit of a request's rows: a batch's rows, or more by the config. 0: no batch dim. REQUIRES:
  // `spec` is complete.
  uint32_t MostRows() const;

  // Whether clients send that input, or may have that output.
  bool IsAskedFor(const TensorSpec& input) const {
    return !facts.sequences.has_value() || !facts.sequences->Supplies(input.name);
  }
  bool IsTold(const TensorSpec& output) const {
    return !facts.sequences.has_value() || !facts.sequences->Keeps(output.name);
  }

  // Looks members up: not to be called under the directory's mutex.
  bool IsReady() const {
    return ready && (members == nullptr || members->Check(MemberNeed::kReady).ok());
  }
};

// "x:FP32[-1,16] -> y:FP32[-1,4]", with the batch dim. Pure.
std::string SpecText(const ModelSpec& spec);

// A version that the daemon refuses to serve, or fetches first. A value.
struct RefusedModel {
  std::string name;
  std::string version;      // empty: they cannot be listed
  std::string reason;       // for operators
  bool wanted = true;       // false: the daemon is ready without it
  bool is_fetched = false;  // from a hub, now
};

// Only goes forward.
enum class ServingStage : uint8_t {
  kStarting,  // refuses requests
  kServing,   // accepts requests for models that are ready
  kLameDuck,  // reports not ready; accepts requests
  kExiting,   // refuses requests; those inside end
};

// All models by name and version; step 3 of a request begins here. models/reload/ publishes and
// withdraws generations.
//
//   Know(m, 2)       clients learn that version 2 of m is not ready
//   Publish(g1)      requests for m 2 go to generation g1
//   Publish(g2)      … go to g2; g1 is returned, to be closed. Requests inside g1 end there
//   Withdraw(g2)     … find nothing
//   Forget(m, 2)     clients learn that there is no such version
//
// A request that found g1 just before the swap is turned away by its closed queue, and looks again
// (Admission). Owned by the daemon; outlives the server and all models. Thread-safe.
class ModelDirectory {
 public:
  // Returns the generation that this one replaces, or null.
  std::shared_ptr<ServedModel> Publish(std::shared_ptr<ServedModel> model);

  // Does nothing if another has replaced it.
  void Withdraw(const ServedModel& model);

  // Null if none is published. An empty version means the highest ready one, else the highest. A
  // model of steps counts as ready, whatever its members do.
  std::shared_ptr<ServedModel> Find(absl::string_view name, absl::string_view version = "") const;

  // From now on the version is "not ready" instead of unknown.
  void Know(const std::string& name, const std::string& version);

  void Forget(const std::string& name, const std::string& version);

  // Exactly these are refused from now on. REQUIRES: none is published.
  void SetRefused(std::vector<RefusedModel> refused);
  std::vector<RefusedModel> refused() const;

  // Whether a version is being fetched.
  bool IsFetched(absl::string_view name) const;

  // Known or refused. An empty version means any.
  bool Knows(absl::string_view name, absl::string_view version = "") const;

  // Published ones, the lowest first.
  std::vector<std::string> Versions(absl::string_view name) const;

  // Published ones, in the order of their models' first publishing.
  std::vector<std::shared_ptr<ServedModel>> models() const;

  // One atomic, so that readiness and admission change together.
  std::atomic<ServingStage> stage{ServingStage::kStarting};

  // The readiness rule: all models, or any one.
  std::atomic<bool> strict{true};

  // In kServing, and strict: every published model is ready, no wanted one is refused. Otherwise:
  // one is ready, or none is wanted.
  bool IsReady() const;

 private:
  mutable absl::Mutex mu_;
  std::vector<std::shared_ptr<ServedModel>> models_ ABSL_GUARDED_BY(mu_);
  // The highest version first.
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<ServedModel>>> by_name_
      ABSL_GUARDED_BY(mu_);
  std::set<std::pair<std::string, std::string>> known_ ABSL_GUARDED_BY(mu_);
  std::vector<RefusedModel> refused_ ABSL_GUARDED_BY(mu_);
};

// An empty version means the highest ready one. The errors have the protocol's text:
//
//   NOT_FOUND         the model or the version is unknown or refused
//   INVALID_ARGUMENT  the version is no number
//   UNAVAILABLE       the version is not loaded, or the model is being fetched
//
// The generation may be neither loaded nor ready. Thread-safe.
absl::StatusOr<std::shared_ptr<ServedModel>> FindServed(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version);

// UNAVAILABLE, with the protocol's text, unless it is loaded. Thread-safe.
absl::Status CheckLoaded(const ServedModel& model);

// As FindServed(), and CheckLoaded(). Thread-safe.
absl::StatusOr<std::shared_ptr<ServedModel>> FindLoaded(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version);

}  // namespace mpsd

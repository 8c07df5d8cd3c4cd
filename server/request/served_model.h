// ModelDirectory: finds the generation that serves a model; ServedModel: one generation.
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

// How a model is run, for the answer to ModelConfig. Its config and placement decide. Constant once
// the model is in the directory.
struct ModelFacts {
  std::string backend;                         // "pytorch", "synthetic"; empty: a model of steps
  std::vector<std::string> devices = {"cpu"};  // by process: "cpu", "cuda:0", "mps"
  std::string device_note;  // the gpu that "auto" passed over, and why; for operators
  uint32_t lanes = 1;       // in a process
  uint32_t kept_files = 0;  // held open for workers that start later
  int64_t max_delay_ns = 0;
  std::vector<uint32_t> preferred_sizes;  // batch sizes
  uint32_t max_request_rows = 0;          // as the config says; 0: as a batch
  uint64_t max_batch_tokens = 0;          // shared by a batch's requests; 0: any number
  QueuePolicies queue;
  LaneNeeds lane_needs;
  std::map<std::string, std::string> input_formats;  // by input: "FORMAT_NCHW"
  std::map<std::string, std::string> label_files;    // by output
  ModelTask task = ModelTask::kAuto;                 // as the config says
  std::vector<ModelTask> default_for;  // the config's: tasks of requests that name no model
  CacheScope response_cache = CacheScope::kOff;  // as the config says
  uint64_t answer_bytes_max = UINT64_MAX;        // limit of a request's outputs: limits.message
  std::vector<ModelStep> steps;                  // for a model that runs others
  std::optional<SequencePolicy> sequences;       // for a model with state
};

// One generation of a model and version, as the request's path sees it. Shared by the directory
// while it is published, by its supervisor while it has workers, and by each request inside; the
// last of them ends it. Knows neither workers nor memory: requests reach both through `queue`.
// Thread-safe: all fields except the three atomics are constant once `ready` has been true.
struct ServedModel {
  // A generation that replaces another gets its `counters`, so that metrics never fall to zero.
  explicit ServedModel(std::shared_ptr<ModelMetrics> counters = std::make_shared<ModelMetrics>())
      : shared_metrics(std::move(counters)), metrics(*shared_metrics) {}

  std::string name;
  std::string version = "1";
  std::string platform;                           // "pytorch_libtorch", "synthetic", "ensemble"
  std::map<std::string, std::string> parameters;  // from the config, for operators
  ModelFacts facts;
  // Class labels by output: the config's, else the model's own; complete once `spec` is.
  std::map<std::string, std::vector<std::string>> labels;
  // How texts become tokens. UNIMPLEMENTED if the model takes only tensors; otherwise an error says
  // why the tokenizer cannot be used, for operators.
  absl::StatusOr<std::shared_ptr<const TextEncoder>> texts =
      absl::UnimplementedError("the model takes no texts");
  ModelSpec spec;  // complete once `ready` was true
  // The precision of all workers, and how "auto" came to it; complete once `spec` is.
  Precision precision = Precision::kAsSaved;
  std::string precision_note;
  const std::shared_ptr<ModelMetrics> shared_metrics;
  ModelMetrics& metrics;
  std::atomic<bool> ready{false};              // a worker serves it now, or it needs none
  std::atomic<bool> loaded{false};             // the spec is complete; stays true
  std::atomic<bool> settled{false};            // its first start has ended; stays true
  std::unique_ptr<const StepMembers> members;  // null: it has its own workers
  std::unique_ptr<AnswerCache> cache;          // null: no answer is kept
  std::unique_ptr<RequestQueue> queue;         // reads the fields above, so destroyed first
  RowQueue* pool = nullptr;                    // in the queue, or the queue; null: a model of steps

  // Limit of a request's rows: a batch's rows, or the config's number. The latter is bounded by the
  // batches into which a request may be cut, and by one tenant's part of a queue's level. 0: the
  // model has no batch dim. REQUIRES: `spec` is complete.
  uint32_t MostRows() const;

  // Whether clients send that input, and may have that output. Excludes tensors that tell the model
  // of sequences, or that the front end keeps between their requests.
  bool IsAskedFor(const TensorSpec& input) const {
    return !facts.sequences.has_value() || !facts.sequences->Supplies(input.name);
  }
  bool IsTold(const TensorSpec& output) const {
    return !facts.sequences.has_value() || !facts.sequences->Keeps(output.name);
  }

  // Whether it serves now. Not to be called under the directory's mutex: it looks members up.
  bool IsReady() const {
    return ready && (members == nullptr || members->Check(MemberNeed::kReady).ok());
  }
};

// "x:FP32[-1,16] -> y:FP32[-1,4]", with the batch dim: the spec for operators. Pure.
std::string SpecText(const ModelSpec& spec);

// A version of a model that the daemon refuses to serve, or that it fetches first. A value.
struct RefusedModel {
  std::string name;
  std::string version;      // empty: the versions cannot be listed
  std::string reason;       // for operators: may name files
  bool wanted = true;       // false: only a client wanted it; the daemon is ready without it
  bool is_fetched = false;  // from a hub, now: refused until then
};

// The stage of the daemon's life. It only goes forward.
enum class ServingStage : uint8_t {
  kStarting,  // refuses requests
  kServing,   // accepts requests for models that are ready
  kLameDuck,  // reports not ready, so that no new client comes; accepts requests
  kExiting,   // refuses requests; those inside end
};

// All models by name and version. Admission and the control methods look generations up;
// models/reload/ publishes and withdraws them. Step 3 of a request begins here.
//
//   Know(m, 2)       clients learn that version 2 of m is not ready
//   Publish(g1)      requests for m 2 go to generation g1
//   Publish(g2)      … go to g2, from this moment on; g1 is returned, to be closed and retired.
//                    Requests inside g1 keep it alive and end there
//   Withdraw(g2)     … find nothing
//   Forget(m, 2)     clients learn that there is no such version
//
// A swap of generations is one pointer under the mutex: each request sees the old or the new
// generation, and always one of them. If a request found g1 just before the swap, g1's closed queue
// turns it away and it looks again (Admission).
//
// The mutex is held for a look-up, never for anything that waits. Owned by the daemon; outlives the
// server and all models. Thread-safe.
class ModelDirectory {
 public:
  // Requests for the model's name and version go to this generation from now on. Returns the
  // previous one; null if none.
  std::shared_ptr<ServedModel> Publish(std::shared_ptr<ServedModel> model);

  // Requests no longer find this generation. Does nothing if another has replaced it.
  void Withdraw(const ServedModel& model);

  // The published generation of that version, or null. An empty version means the highest ready
  // one, or the highest if none is ready. A model of steps counts as ready here, whatever its
  // members do.
  std::shared_ptr<ServedModel> Find(absl::string_view name, absl::string_view version = "") const;

  // The version is known from now on, published or not: clients that ask for it learn that it is
  // not ready, instead of that there is no such model.
  void Know(const std::string& name, const std::string& version);

  void Forget(const std::string& name, const std::string& version);

  // Exactly these versions are refused from now on: clients learn that they have no version to
  // serve. REQUIRES: none of them is published.
  void SetRefused(std::vector<RefusedModel> refused);
  std::vector<RefusedModel> refused() const;

  // Whether a version of the model is fetched now.
  bool IsFetched(absl::string_view name) const;

  // Whether the version is known or refused. An empty version means any.
  bool Knows(absl::string_view name, absl::string_view version = "") const;

  // A model's published versions, the lowest first.
  std::vector<std::string> Versions(absl::string_view name) const;

  // All published generations, in the order in which their models were first published.
  std::vector<std::shared_ptr<ServedModel>> models() const;

  // One atomic, so that readiness and admission change at the same moment.
  std::atomic<ServingStage> stage{ServingStage::kStarting};

  // The readiness rule: whether all models must be ready, or any one.
  std::atomic<bool> strict{true};

  // True in kServing while the models meet the rule. Strict: every published model is ready, and no
  // wanted one is refused. Otherwise: one model is ready, or none is wanted.
  bool IsReady() const;

 private:
  mutable absl::Mutex mu_;
  std::vector<std::shared_ptr<ServedModel>> models_ ABSL_GUARDED_BY(mu_);
  // By name, the highest version first.
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<ServedModel>>> by_name_
      ABSL_GUARDED_BY(mu_);
  std::set<std::pair<std::string, std::string>> known_ ABSL_GUARDED_BY(mu_);
  std::vector<RefusedModel> refused_ ABSL_GUARDED_BY(mu_);  // at most as many as are found
};

// The generation that serves the client's model and version. An empty version means the highest
// ready one. All errors have the protocol's text:
//
//   NOT_FOUND         the model or the version is unknown, or the model has no version to serve,
//                     such as one that is refused
//   INVALID_ARGUMENT  the version is no number
//   UNAVAILABLE       the version is known, and not loaded or unloaded; the model is fetched now
//
// The model may be neither loaded nor ready: the caller decides whether that matters. Thread-safe.
absl::StatusOr<std::shared_ptr<ServedModel>> FindServed(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version);

// UNAVAILABLE, with the protocol's text, for a model that is not loaded. Thread-safe.
absl::Status CheckLoaded(const ServedModel& model);

// As FindServed(), for callers that need a loaded model with a complete spec. Thread-safe.
absl::StatusOr<std::shared_ptr<ServedModel>> FindLoaded(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version);

}  // namespace mpsd

// ModelDirectory: finds the generation that serves a model; ServedModel: one such generation.
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
#include "server/graph/model_step.h"
#include "server/request/answer_cache.h"
#include "server/request/cache_scope.h"
#include "server/request/lane_needs.h"
#include "server/request/queue_policy.h"
#include "server/request/request.h"
#include "server/request/sequence_policy.h"
#include "server/request/step_members.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

class TextEncoder;

// How a model is run, for the answer to ModelConfig. Decided by the model's config and its
// placement. Constant once the model is in the directory.
struct ModelFacts {
  std::string backend;                         // "pytorch", "synthetic"; empty: the model has steps
  std::vector<std::string> devices = {"cpu"};  // of each process: "cpu", "cuda:0", "mps"
  std::string device_note;  // the gpu that "auto" passed over, and why; for operators
  uint32_t lanes = 1;       // of a process
  uint32_t kept_files = 0;  // held open for workers that start later
  int64_t max_delay_ns = 0;
  std::vector<uint32_t> preferred_sizes;  // of a batch
  uint32_t max_request_rows = 0;          // as the config says; 0: those of a batch
  uint64_t max_batch_tokens = 0;          // that requests share; 0: any
  QueuePolicies queue;
  LaneNeeds lane_needs;
  std::map<std::string, std::string> input_formats;  // of inputs, by name: "FORMAT_NCHW"
  std::map<std::string, std::string> label_files;    // of outputs, by name
  ModelTask task = ModelTask::kAuto;                 // as the config says
  std::vector<ModelTask> default_for;                // likewise: of requests that name no model
  CacheScope response_cache = CacheScope::kOff;      // likewise
  uint64_t answer_bytes_max = UINT64_MAX;            // of a request's outputs: limits.message
  std::vector<ModelStep> steps;                      // of a model that runs others
  std::optional<SequencePolicy> sequences;           // of a model with state
};

// One generation of a model and version, as the request's path sees it. Shared by the directory
// while it is published, by its supervisor while it has workers, and by each request inside; goes
// with the last of them. Knows neither workers nor memory: requests reach both through `queue`.
// Thread-safe: all fields but the three atomics are constant once `ready` has been true.
struct ServedModel {
  // A generation that replaces another one gets its `counters`, so that metrics never fall to zero.
  explicit ServedModel(std::shared_ptr<ModelMetrics> counters = std::make_shared<ModelMetrics>())
      : shared_metrics(std::move(counters)), metrics(*shared_metrics) {}

  std::string name;
  std::string version = "1";
  std::string platform;                           // "pytorch_libtorch", "synthetic", "ensemble"
  std::map<std::string, std::string> parameters;  // from the config, for operators
  ModelFacts facts;
  // Of the classes of an output, by name: the config's, else the model's own; complete once `spec`
  // is.
  std::map<std::string, std::vector<std::string>> labels;
  // How texts become tokens. UNIMPLEMENTED where the model takes tensors alone; else why the
  // tokenizer cannot be used, for operators.
  absl::StatusOr<std::shared_ptr<const TextEncoder>> texts =
      absl::UnimplementedError("the model takes no texts");
  ModelSpec spec;  // complete once `ready` was true
  // What all workers compute in, and how "auto" came to it; complete once `spec` is.
  Precision precision = Precision::kAsSaved;
  std::string precision_note;
  const std::shared_ptr<ModelMetrics> shared_metrics;
  ModelMetrics& metrics;
  std::atomic<bool> ready{false};    // at least one worker serves it now, or it needs none
  std::atomic<bool> loaded{false};   // the spec is complete; stays true
  std::atomic<bool> settled{false};  // its first start has ended; stays true
  std::unique_ptr<const StepMembers> members;  // null: it has workers of its own
  std::unique_ptr<AnswerCache> cache;          // null: no answer is kept
  std::unique_ptr<RequestQueue> queue;         // reads the fields above, so it is destroyed first

  // The most rows of a request: those of a batch; or as many as the config says, in as many batches
  // as a request may be cut into, and one tenant may have in a level of the queue. 0: the model has
  // no batch dim. REQUIRES: `spec` is complete.
  uint32_t MostRows() const;

  // Whether clients send that input, and whether they may have that output: not those by which the
  // model learns of sequences, or that the front end keeps between their requests.
  bool IsAskedFor(const TensorSpec& input) const {
    return !facts.sequences.has_value() || !facts.sequences->Supplies(input.name);
  }
  bool IsTold(const TensorSpec& output) const {
    return !facts.sequences.has_value() || !facts.sequences->Keeps(output.name);
  }

  // Whether it serves now. Not to be asked under the directory's mutex: members are looked up.
  bool IsReady() const {
    return ready && (members == nullptr || members->Check(MemberNeed::kReady).ok());
  }
};

// "x:FP32[-1,16] -> y:FP32[-1,4]", with the batch dim: the spec as operators see it. Pure.
std::string SpecText(const ModelSpec& spec);

// A version of a model that the daemon has found, and refuses to serve. A value.
struct RefusedModel {
  std::string name;
  std::string version;  // empty: the versions cannot be listed
  std::string reason;   // for operators: it may name files
  bool wanted = true;   // false: only a client asked for it, so the daemon is ready without it
};

// How far the daemon's life has got. It only goes forward.
enum class ServingStage : uint8_t {
  kStarting,  // refuses requests
  kServing,   // accepts requests for models that are ready
  kLameDuck,  // reports that it is not ready, so that no new client comes; accepts requests
  kExiting,   // refuses requests; those inside end
};

// All models by name and version: admission and the control methods look generations up, reload/
// publishes and withdraws them. Step 3 of a request begins here.
//
//   Know(m, 2)       clients learn that version 2 of m is not ready
//   Publish(g1)      requests for m 2 go to generation g1
//   Publish(g2)      … go to g2, from this moment on; g1 is returned, to be closed and retired.
//                    Requests inside g1 keep it alive and end there
//   Withdraw(g2)     … find nothing
//   Forget(m, 2)     clients learn that there is no such version
//
// A swap of generations is one pointer under the mutex: each request sees the old generation or the
// new one, and no moment without any. A request that found g1 just before the swap is turned away
// by g1's closed queue and looks again (Admission).
//
// The mutex is held for a look-up, never for anything that waits. Owned by the daemon; outlives the
// server and all models. Thread-safe.
class ModelDirectory {
 public:
  // From now on requests for the model's name and version go to this generation. Returns the
  // generation that they went to before; null if none.
  std::shared_ptr<ServedModel> Publish(std::shared_ptr<ServedModel> model);

  // From now on requests no longer find this generation. Does nothing when another generation has
  // replaced it.
  void Withdraw(const ServedModel& model);

  // The published generation of that version; null when there is none. An empty version means the
  // highest one that is ready, or the highest one when none is. A model of steps counts as ready
  // here, whatever its members do.
  std::shared_ptr<ServedModel> Find(absl::string_view name, absl::string_view version = "") const;

  // From now on the version is known, published or not: clients that ask for it learn that it is
  // not ready, instead of that there is no such model.
  void Know(const std::string& name, const std::string& version);

  // The opposite of Know().
  void Forget(const std::string& name, const std::string& version);

  // From now on these versions, and no others, are refused: clients learn that they have no version
  // to serve. REQUIRES: none of them is published.
  void SetRefused(std::vector<RefusedModel> refused);
  std::vector<RefusedModel> refused() const;

  // True when the version is known or refused. An empty version means any.
  bool Knows(absl::string_view name, absl::string_view version = "") const;

  // The published versions of a model, the lowest first.
  std::vector<std::string> Versions(absl::string_view name) const;

  // All published generations, in the order in which their models were first published.
  std::vector<std::shared_ptr<ServedModel>> models() const;

  // One atomic for all of it, so that readiness and admission change at the same moment.
  std::atomic<ServingStage> stage{ServingStage::kStarting};

  // The rule of readiness: whether all models must be ready, or any one of them.
  std::atomic<bool> strict{true};

  // True in kServing while the models meet the rule. Strict: every published model is ready, and
  // none that is wanted is refused. Otherwise: one model is ready, or none is wanted at all.
  bool IsReady() const;

 private:
  mutable absl::Mutex mu_;
  std::vector<std::shared_ptr<ServedModel>> models_ ABSL_GUARDED_BY(mu_);
  // Of each name, the highest version first.
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<ServedModel>>> by_name_
      ABSL_GUARDED_BY(mu_);
  std::set<std::pair<std::string, std::string>> known_ ABSL_GUARDED_BY(mu_);
  std::vector<RefusedModel> refused_ ABSL_GUARDED_BY(mu_);  // at most as many as are found
};

// The generation that serves the model and version that a client names. An empty version means the
// highest one that is ready. All errors have the protocol's text:
//
//   NOT_FOUND         the model or the version is unknown, or the model has no version to serve,
//                     such as one that is refused
//   INVALID_ARGUMENT  the version is no number
//   UNAVAILABLE       the version is known, and not loaded or unloaded
//
// The model found may be neither loaded nor ready: the caller decides whether that matters.
// Thread-safe.
absl::StatusOr<std::shared_ptr<ServedModel>> FindServed(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version);

// UNAVAILABLE, with the protocol's text, for a model that is not loaded. Thread-safe.
absl::Status CheckLoaded(const ServedModel& model);

// As FindServed(), for callers that need a loaded model: the model's spec is complete. Thread-safe.
absl::StatusOr<std::shared_ptr<ServedModel>> FindLoaded(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version);

}  // namespace mpsd

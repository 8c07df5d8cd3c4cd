// ModelFactory: makes a generation of a model from its config: pool, counters, workers.
//
//   ModelConfig ─▶ DecidePlacements ─▶ Pool ─▶ ServedModel ─▶ MetricsPage::AddModel
//                                        └───▶ SupervisedModel ─▶ Supervisor::Add
//
// The reload knows generations and no workers; the supervisor knows workers and no configs; the
// pool knows neither. Only here they meet, as functions between their values: LoadOrder,
// PoolOptions, SupervisionLimits, ModelFacts.
#pragma once

#include "proto/base/clock.h"
#include "server/cache/response_cache.h"
#include "server/compose/sequences/sequence_context.h"
#include "server/compose/steps/step_context.h"
#include "server/models/host_survey.h"
#include "server/models/reload/generation_maker.h"
#include "server/pool/pool.h"
#include "server/pool/resources/resource_table.h"
#include "server/request/completed_batch.h"
#include "server/supervise/supervisor.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

// A factory's connections. The referents outlive it.
struct ModelFactoryParts {
  const Clock* clock = nullptr;
  CompletionSink* replies = nullptr;
  ResponseCache* answers = nullptr;
  ResourceTable* resources = nullptr;
  StepContext* steps = nullptr;
  SequenceContext* sequences = nullptr;
  Supervisor* supervisor = nullptr;
  MetricsPage* page = nullptr;
  HostSurvey* survey = nullptr;
  uint64_t message_bytes = 0;  // the largest message of a client, which bounds open dims
};

// Where each part of a ModelConfig goes:
//
//   path, format, spec, parameters, sandbox, warmup,  LoadOrder            the worker
//   keep_warm, precision
//   text                                              TextEncoder          requests of texts
//   response_cache                                    ModelCache           equal requests
//   batching, queue, rate_limiter, weight             PoolOptions          the pool
//   max_request_rows                                  PartedQueue          requests beyond a batch
//   sequences                                         SequenceQueue        state between requests
//   timeouts, circuit, recycle                        SupervisionLimits    the supervisor
//   what was decided of it all                        ModelFacts           clients and operators
//   device, placement                                 Placement, which the other four follow
//   steps                                             MakeStepModel(): a StepQueue, and no worker
//
// Start() starts no worker and takes no shared memory: the supervisor's thread does both
// afterwards.
//
// The daemon's GenerationMaker. The reloader calls it, on main at the start and then on the thread
// `reloader`; never on a request's path. Owns nothing that it makes. The caller gets the
// generation, which owns its pool; the supervisor has it until its last worker is gone; the page
// holds its counters weakly. Owned by the daemon. Thread-safe.
// WaitUntilServing() blocks, the first Start() too (see HostSurvey), and each Start() while it
// reads a tokenizer.
class ModelFactory final : public GenerationMaker {
 public:
  explicit ModelFactory(const ModelFactoryParts& parts) : parts_(parts) {}

  // Cannot fail: workers find out that a model cannot be loaded, and WaitUntilServing() says so.
  // That also says why a tokenizer of the config or folder does not work; such a model is never
  // ready. Places the model among `others`, whose placements stay.
  std::shared_ptr<ServedModel> Start(const ModelConfig& model, absl::Span<const ModelConfig> others,
                                     std::shared_ptr<ModelMetrics> counters) override;
  absl::Status WaitUntilServing(const ServedModel& model,
                                const std::function<bool()>& give_up) override;
  absl::Status Fault(const ServedModel& model) const override;
  void Retire(const std::shared_ptr<ServedModel>& model) override;

 private:
  // The pool. In front of it may stand a queue that keeps sequences, or one that cuts requests
  // larger than a batch.
  std::unique_ptr<RequestQueue> QueueOf(const ModelConfig& model, const ServedModel* served,
                                        std::unique_ptr<Pool> pool) const;

  const ModelFactoryParts parts_;
};

}  // namespace mpsd

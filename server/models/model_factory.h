// ModelFactory: makes a generation of a model from its config.
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

// The referents outlive the factory.
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
  uint64_t message_bytes = 0;  // limit of a client's message, which bounds open dims
};

// Reloads, supervisor and pool do not know each other; only here they meet.
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
// Called by the reloader, on main at the start, then on its threads. The generation owns its pool;
// the supervisor has the generation until its last worker is gone; the page holds its counters
// weakly. Owned by the daemon. Thread-safe. WaitUntilServing() blocks, the first Start() too
// (HostSurvey), and each Start() that reads a tokenizer.
class ModelFactory final : public GenerationMaker {
 public:
  explicit ModelFactory(const ModelFactoryParts& parts) : parts_(parts) {}

  // Cannot fail: WaitUntilServing() says if a model cannot be loaded, or its tokenizer does not
  // work. Such a model is never ready. Placements of `others` stay. Starts no worker: the
  // supervisor's thread does.
  std::shared_ptr<ServedModel> Start(const ModelConfig& model, absl::Span<const ModelConfig> others,
                                     std::shared_ptr<ModelMetrics> counters) override;
  absl::Status WaitUntilServing(const ServedModel& model,
                                const std::function<bool()>& give_up) override;
  absl::Status Fault(const ServedModel& model) const override;
  void Retire(const std::shared_ptr<ServedModel>& model) override;

 private:
  // The pool, perhaps behind a queue for sequences or for requests larger than a batch.
  std::unique_ptr<RequestQueue> QueueOf(const ModelConfig& model, const ServedModel* served,
                                        std::unique_ptr<Pool> pool) const;

  const ModelFactoryParts parts_;
};

}  // namespace mpsd

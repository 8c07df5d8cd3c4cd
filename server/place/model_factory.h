// ModelFactory: makes a generation of a model from its config: its pool, its counters, its workers.
#pragma once

#include "proto/base/clock.h"
#include "server/place/host_survey.h"
#include "server/reload/generation_maker.h"
#include "server/request/completed_batch.h"
#include "server/supervise/supervisor.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

// Wires the steps of one generation: config → placement → pool → supervised workers → metrics. It
// is the one place that knows them all, so that they need not know each other. Called by the
// reloader, never on a request's path. Owned by the daemon; the referents outlive it. Thread-safe;
// only WaitUntilServing() and the first Start() block (see HostSurvey).
class ModelFactory final : public GenerationMaker {
 public:
  ModelFactory(const Clock* clock, CompletionSink* replies, Supervisor* supervisor,
               MetricsPage* page, HostSurvey* survey)
      : clock_(clock), replies_(replies), supervisor_(supervisor), page_(page), survey_(survey) {}

  std::shared_ptr<ServedModel> Start(const ModelConfig& model, absl::Span<const ModelConfig> others,
                                     std::shared_ptr<ModelMetrics> counters) override;
  absl::Status WaitUntilServing(const ServedModel& model,
                                const std::function<bool()>& give_up) override {
    return supervisor_->WaitUntilServing(model, give_up);
  }
  absl::Status Fault(const ServedModel& model) const override { return supervisor_->Fault(model); }
  void Retire(const std::shared_ptr<ServedModel>& model) override { supervisor_->Retire(model); }

 private:
  const Clock* const clock_;
  CompletionSink* const replies_;
  Supervisor* const supervisor_;
  MetricsPage* const page_;
  HostSurvey* const survey_;
};

}  // namespace mpsd

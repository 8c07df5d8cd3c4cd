// ModelFactory: makes a generation of a model from its config: its pool, its counters, its workers.
#pragma once

#include "proto/base/clock.h"
#include "server/reload/generation_maker.h"
#include "server/request/completed_batch.h"
#include "server/supervise/supervisor.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

// Thread-safe. Owned by the daemon, and called by its reloader; the referents outlive it.
class ModelFactory final : public GenerationMaker {
 public:
  // `cores` is what this host lets us use.
  ModelFactory(const Clock* clock, CompletionSink* replies, Supervisor* supervisor,
               MetricsPage* page, uint32_t cores)
      : clock_(clock), replies_(replies), supervisor_(supervisor), page_(page), cores_(cores) {}

  std::shared_ptr<ServedModel> Start(const ModelConfig& model, size_t model_count,
                                     std::shared_ptr<ModelMetrics> counters) override;
  absl::Status WaitUntilServing(const ServedModel& model,
                                const std::function<bool()>& give_up) override {
    return supervisor_->WaitUntilServing(model, give_up);
  }
  void Retire(const std::shared_ptr<ServedModel>& model) override { supervisor_->Retire(model); }

 private:
  const Clock* const clock_;
  CompletionSink* const replies_;
  Supervisor* const supervisor_;
  MetricsPage* const page_;
  const uint32_t cores_;
};

}  // namespace mpsd

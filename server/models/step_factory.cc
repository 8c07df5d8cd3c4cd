#include "server/models/step_factory.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/check.h"
#include "server/compose/steps/graph_members.h"
#include "server/compose/steps/step_queue.h"
#include "server/request/graph/step_graph.h"
#include "server/request/retry_info.h"

namespace mpsd {

std::shared_ptr<ServedModel> MakeStepModel(const ModelConfig& model,
                                           std::shared_ptr<ModelMetrics> counters,
                                           StepContext* context) {
  std::vector<StepFault> faults;
  StepGraph graph = StepGraph::Of(model.name, model.spec, model.steps, &faults);
  MPSD_CHECK(faults.empty());
  auto served = std::make_shared<ServedModel>(std::move(counters));
  served->name = model.name;
  served->version = model.version;
  served->platform = "ensemble";
  served->parameters = model.parameters;
  served->labels = model.labels;
  served->facts.devices.clear();
  served->facts.lanes = 0;
  served->facts.queue = model.queue;
  served->facts.input_formats = model.input_formats;
  served->facts.label_files = model.label_files;
  served->facts.steps = model.steps;
  served->spec = model.spec;
  auto queue =
      std::make_unique<StepQueue>(served.get(), std::move(graph),
                                  RunBounds{model.queue.requests(), model.queue_bytes}, context);
  served->members = std::make_unique<GraphMembers>(served.get(), &queue->graph(), context->models);
  served->queue = std::move(queue);
  served->loaded = true;
  served->ready = true;
  return served;
}

absl::Status WaitForMembers(const ServedModel& model, const ModelDirectory& models,
                            const std::function<absl::Status(const ServedModel&)>& fault,
                            const std::function<bool()>& give_up) {
  while (true) {
    const absl::Status status = model.members->Check(MemberNeed::kReady);
    if (status.ok()) return status;
    bool may_come = false;
    for (size_t i = 0; i < model.facts.steps.size(); ++i) {
      const ModelStep& step = model.facts.steps[i];
      const std::shared_ptr<ServedModel> member = models.Find(step.model, step.version);
      if (member == nullptr) return status;
      may_come = may_come || !member->ready;
      const absl::Status why = member->ready ? absl::OkStatus() : fault(*member);
      if (why.ok()) continue;
      return WithText(why, absl::StrCat(StepPrefix(model.name, i, step.model), why.message()));
    }
    if (!may_come) return model.members->Check(MemberNeed::kReady);
    if (give_up()) return absl::CancelledError("Server exiting");
    absl::SleepFor(absl::Milliseconds(20));
  }
}

}  // namespace mpsd

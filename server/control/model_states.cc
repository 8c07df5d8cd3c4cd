#include "server/control/model_states.h"

namespace mpsd {

ModelState StateOf(const ServedModel& model, const std::vector<WorkerInfo>& workers,
                   std::string* why) {
  if (model.ready) return ModelState::kReady;
  for (const WorkerInfo& worker : workers) {
    if (worker.last_words.empty()) continue;
    if (why != nullptr) *why = worker.last_words;
    return ModelState::kUnavailable;
  }
  return ModelState::kLoading;
}

std::vector<ModelStateSample> ModelStates(const ModelDirectory& models,
                                          const WorkerStatusSource& workers) {
  std::vector<ModelStateSample> samples;
  for (const std::shared_ptr<ServedModel>& model : models.models()) {
    const ModelState state = StateOf(*model, workers.Workers(*model), nullptr);
    const char* const precision = model->loaded ? NameOf(model->precision) : "";
    samples.push_back({model->name, model->version, state, precision});
  }
  for (const RefusedModel& model : models.refused()) {
    samples.push_back({model.name, model.version, ModelState::kRefused, ""});
  }
  return samples;
}

}  // namespace mpsd

#include "server/control/model_states.h"

namespace mpsd {
namespace {

std::vector<RuntimeSample> RuntimesOf(const std::vector<WorkerInfo>& workers) {
  std::vector<RuntimeSample> runtimes;
  for (const WorkerInfo& worker : workers) {
    const WorkerRuntime& runtime = worker.runtime;
    if (runtime.name.empty()) continue;
    runtimes.push_back({worker.index, worker.device, runtime.name, runtime.kind, runtime.path,
                        NameOf(runtime.driver_guard), NameOf(runtime.input_memory), worker.slowness,
                        worker.resident_bytes, worker.cpu_seconds, worker.pid});
  }
  return runtimes;
}

}  // namespace

ModelState StateOf(const ServedModel& model, const std::vector<WorkerInfo>& workers,
                   std::string* why) {
  if (model.IsReady()) return ModelState::kReady;
  if (model.members != nullptr) {
    if (why != nullptr) *why = std::string(model.members->Check(MemberNeed::kReady).message());
    return ModelState::kUnavailable;
  }
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
    const std::vector<WorkerInfo> infos = workers.Workers(*model);
    const ModelState state = StateOf(*model, infos, nullptr);
    const bool computes = model->loaded && model->members == nullptr;
    const char* const precision = computes ? NameOf(model->precision) : "";
    samples.push_back({model->name, model->version, state, precision, RuntimesOf(infos),
                       model->facts.max_batch_tokens});
  }
  for (const RefusedModel& model : models.refused()) {
    const ModelState state = model.is_fetched ? ModelState::kLoading : ModelState::kRefused;
    samples.push_back({model.name, model.version, state, ""});
  }
  return samples;
}

}  // namespace mpsd

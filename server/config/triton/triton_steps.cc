#include "server/config/triton/triton_steps.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "server/config/config_values.h"
#include "server/request/graph/step_graph.h"

namespace mpsd {
namespace {

namespace pb = inference;

absl::Status Wrong(absl::string_view key, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", key, "' ", why));
}

// About workers, a queue for batches, or kept answers.
absl::Status RefuseWorkersKeys(const pb::ModelConfig& triton) {
  const std::pair<bool, const char*> keys[] = {
      {!triton.backend().empty(), "backend"},
      {!triton.default_model_filename().empty(), "default_model_filename"},
      {triton.instance_group_size() > 0, "instance_group"},
      {triton.has_dynamic_batching(), "dynamic_batching"},
      {triton.has_sequence_batching(), "sequence_batching"},
      {triton.model_warmup_size() > 0, "model_warmup"},
      {triton.response_cache().enable(), "response_cache"},
      {triton.model_transaction_policy().decoupled(), "model_transaction_policy.decoupled"},
  };
  for (const auto& [is_there, key] : keys) {
    if (is_there) return Wrong(key, "is not for a model with ensemble_scheduling");
  }
  if (!triton.platform().empty() && triton.platform() != "ensemble") {
    return Wrong("platform", absl::StrCat("is '", triton.platform(),
                                          "', and must be 'ensemble' beside ensemble_scheduling"));
  }
  return absl::OkStatus();
}

absl::Status ReadStep(const pb::ModelEnsembling::Step& source, ModelStep* step) {
  const std::string fault = ServableNameFault(source.model_name());
  if (!fault.empty()) return Wrong("ensemble_scheduling.step.model_name", fault);
  if (source.model_version() < -1) {
    return Wrong("ensemble_scheduling.step.model_version", "must be a version, or -1 for any");
  }
  if (!source.model_namespace().empty()) {
    return Wrong("ensemble_scheduling.step.model_namespace", "is not supported");
  }
  step->model = source.model_name();
  if (source.model_version() > 0) step->version = absl::StrCat(source.model_version());
  step->inputs.insert(source.input_map().begin(), source.input_map().end());
  step->outputs.insert(source.output_map().begin(), source.output_map().end());
  if (step->inputs.empty() || step->inputs.size() > kMaxTensors) {
    return Wrong("ensemble_scheduling.step.input_map",
                 absl::StrCat("must have 1 to ", kMaxTensors, " members"));
  }
  if (step->outputs.empty() || step->outputs.size() > kMaxTensors) {
    return Wrong("ensemble_scheduling.step.output_map",
                 absl::StrCat("must have 1 to ", kMaxTensors, " members"));
  }
  return absl::OkStatus();
}

absl::Status ReadSteps(const pb::ModelEnsembling& source, std::vector<ModelStep>* steps) {
  if (source.step_size() == 0 || source.step_size() > static_cast<int>(kMaxSteps)) {
    return Wrong("ensemble_scheduling", absl::StrCat("must have 1 to ", kMaxSteps, " steps"));
  }
  std::vector<ModelStep> fresh(static_cast<size_t>(source.step_size()));
  for (int i = 0; i < source.step_size(); ++i) {
    absl::Status status = ReadStep(source.step(i), &fresh[static_cast<size_t>(i)]);
    if (!status.ok()) return status;
  }
  *steps = std::move(fresh);
  return absl::OkStatus();
}

}  // namespace

bool IsOfSteps(const pb::ModelConfig& triton, const ModelConfig& model) {
  return triton.has_ensemble_scheduling() || triton.platform() == "ensemble" || model.has_steps();
}

absl::Status ApplySteps(const pb::ModelConfig& triton, ModelConfig* model) {
  if (!model->path.empty() || model->format == ModelFormat::kSynthetic) {
    return Wrong("ensemble_scheduling", "is for a model without a file");
  }
  if (absl::Status status = RefuseWorkersKeys(triton); !status.ok()) return status;
  if (triton.has_ensemble_scheduling() || !model->has_steps()) {
    absl::Status status = ReadSteps(triton.ensemble_scheduling(), &model->steps);
    if (!status.ok()) return status;
  }
  if (model->spec.inputs.empty()) return Wrong("input", "must be given");
  if (model->spec.outputs.empty()) return Wrong("output", "must be given");
  for (const std::vector<TensorSpec>* side : {&model->spec.inputs, &model->spec.outputs}) {
    for (const TensorSpec& tensor : *side) {
      if (tensor.optional) return Wrong("input.optional", "is not for ensemble_scheduling");
      if (tensor.client_dims.has_value()) return Wrong("reshape", "is not for ensemble_scheduling");
    }
  }
  std::vector<StepFault> faults;
  StepGraph::Of(model->name, model->spec, model->steps, &faults);
  if (faults.empty()) return absl::OkStatus();
  return Wrong("ensemble_scheduling",
               absl::StrCat("is wrong: ", faults.front().path, ": ", faults.front().what));
}

}  // namespace mpsd

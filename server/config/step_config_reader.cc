#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/link/model_spec_reader.h"
#include "server/config/config_reader.h"
#include "server/config/config_values.h"
#include "server/request/graph/member_fit.h"
#include "server/request/graph/step_graph.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 4> kStepKeys = {"model", "version", "inputs", "outputs"};
constexpr std::array<std::string_view, 2> kStepsQueueKeys = {"requests", "bytes"};
// Only a model with workers has these.
constexpr std::array<std::string_view, 24> kWorkersKeys = {
    "path",      "format",       "device",         "placement",        "pad",
    "warmup",    "sandbox",      "batching",       "circuit",          "recycle",
    "text",      "load_timeout", "run_timeout",    "decoupled",        "warmup_timeout",
    "task",      "precision",    "response_cache", "max_batch_tokens", "max_request_rows",
    "keep_warm", "sequences",    "rate_limiter",   "default_for"};
constexpr uint32_t kMaxStepVersion = 2'000'000'000;
constexpr uint64_t kMaxStepsQueueBytes = 1ULL << 40;

// From a member's tensors to the whole's.
void ReadLinks(const JsonObject& object, std::string_view key,
               std::map<std::string, std::string>* links) {
  object.Require(key);
  const nlohmann::json* json = object.Find(key);
  if (json == nullptr) return;
  if (!json->is_object()) return object.Fail(key, WrongType("an object", *json));
  if (json->empty() || json->size() > kMaxTensors) {
    return object.Fail(key, absl::StrCat("must have 1 to ", kMaxTensors, " members"));
  }
  const std::string path = object.PathOf(key);
  for (const auto& [name, tensor] : json->items()) {
    const std::string place = JsonPath(path, name);
    if (!tensor.is_string()) {
      object.errors()->Add(place, WrongType("the name of a tensor", tensor));
      continue;
    }
    std::string text = tensor.get<std::string>();
    const std::string fault = TensorNameFault(text);
    if (!fault.empty()) object.errors()->Add(place, fault);
    links->emplace(name, std::move(text));
  }
}

ModelStep ReadStep(const nlohmann::json& json, const std::string& path, JsonErrors* errors) {
  const JsonObject object(json, path, kStepKeys, errors);
  ModelStep step;
  object.Require("model");
  object.Get("model", &step.model);
  const nlohmann::json* model = object.Find("model");
  if (model != nullptr && model->is_string()) {
    const std::string fault = ServableNameFault(step.model);
    if (!fault.empty()) object.Fail("model", fault);
  }
  if (object.Find("version") != nullptr) {
    uint32_t version = 1;
    object.Get("version", 1, kMaxStepVersion, &version);
    step.version = absl::StrCat(version);
  }
  ReadLinks(object, "inputs", &step.inputs);
  ReadLinks(object, "outputs", &step.outputs);
  return step;
}

void ReadStepsQueue(const JsonObject& model, const LimitsConfig& limits, ModelConfig* config) {
  config->queue_bytes = std::max(config->queue_bytes, limits.message_bytes);
  const nlohmann::json* json = model.Find("queue");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("queue"), kStepsQueueKeys, model.errors());
  object.Get("requests", 1, kMaxQueueRequests, &config->queue.levels[0].requests);
  object.GetBytes("bytes", limits.message_bytes, kMaxStepsQueueBytes, &config->queue_bytes);
}

void CheckTensors(const JsonObject& object, const std::vector<TensorSpec>& tensors,
                  std::string_view key) {
  object.Require(key);
  const nlohmann::json* json = object.Find(key);
  if (json != nullptr && json->is_array() && json->empty()) {
    object.Fail(key, "must hold at least one");
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string path = JsonPath(object.PathOf(key), i);
    if (tensors[i].optional) {
      object.errors()->Add(JsonPath(path, "optional"), "is not for a model with steps");
    }
    if (tensors[i].client_dims.has_value()) {
      object.errors()->Add(JsonPath(path, "client_shape"), "is not for a model with steps");
    }
  }
}

// Builds the graph, and reports its faults.
bool CheckGraph(const ModelConfig& model, const std::string& path, JsonErrors* errors,
                StepGraph* graph) {
  std::vector<StepFault> faults;
  *graph = StepGraph::Of(model.name, model.spec, model.steps, &faults);
  for (StepFault& fault : faults) {
    errors->Add(absl::StrCat(path, ".", fault.path), std::move(fault.what));
  }
  return faults.empty();
}

const ModelConfig* FindMember(const std::vector<ModelConfig>& models, const ModelStep& step) {
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelConfig& model) {
    return model.name == step.model && (step.version.empty() || step.version == model.version);
  });
  return found == models.end() ? nullptr : &*found;
}

// A model that takes texts has inputs that its config does not name. Among several versions, nobody
// knows which one serves.
Member MemberOf(const std::vector<ModelConfig>& models, const ModelStep& step,
                const ModelConfig& found) {
  const auto versions = std::count_if(models.begin(), models.end(), [&](const ModelConfig& model) {
    return model.name == step.model;
  });
  const bool is_known = found.text.tokenizer.empty() && (versions == 1 || !step.version.empty());
  if (!is_known) return {};
  return {&found.spec, found.format == ModelFormat::kSynthetic && !found.spec.outputs.empty(),
          found.max_request_rows};
}

}  // namespace

void ReadStepsConfig(const JsonObject& object, const LimitsConfig& limits, ModelConfig* model) {
  for (const std::string_view key : kWorkersKeys) {
    if (object.Find(key) == nullptr) continue;
    object.Fail(key, "is not for a model with steps, which has no workers");
  }
  ReadModelSpec(object, &model->spec);
  CheckTensors(object, model->spec.inputs, "inputs");
  CheckTensors(object, model->spec.outputs, "outputs");
  ReadStepsQueue(object, limits, model);
  object.GetList("steps", kMaxSteps, [&](const nlohmann::json& json, const std::string& path) {
    model->steps.push_back(ReadStep(json, path, object.errors()));
  });
  const nlohmann::json* steps = object.Find("steps");
  MPSD_CHECK(steps != nullptr);
  if (steps->is_array() && steps->empty()) object.Fail("steps", "must hold at least one step");
}

void CheckSteps(const std::vector<ModelConfig>& models, bool has_repository, JsonErrors* errors) {
  for (size_t i = 0; i < models.size(); ++i) {
    const ModelConfig& model = models[i];
    const std::string path = JsonPath("models", i);
    StepGraph graph;
    if (!model.has_steps() || !CheckGraph(model, path, errors, &graph)) continue;
    std::vector<Member> members;
    for (size_t s = 0; s < model.steps.size(); ++s) {
      const ModelStep& step = model.steps[s];
      const std::string place = JsonPath(JsonPath(JsonPath(path, "steps"), s), "model");
      const ModelConfig* found = FindMember(models, step);
      members.push_back(found == nullptr ? Member() : MemberOf(models, step, *found));
      if (found == nullptr && !has_repository) {
        errors->Add(place, absl::StrCat("there is no model '", step.model, "'",
                                        step.version.empty() ? "" : " of that version"));
      } else if (found != nullptr && found->has_steps()) {
        errors->Add(place, absl::StrCat("'", step.model, "' has steps itself"));
        members.back() = {};
      } else if (found != nullptr && found->sequences.has_value()) {
        errors->Add(place,
                    absl::StrCat("'", step.model, "' serves sequences, and a step is in none"));
        members.back() = {};
      }
    }
    for (StepFault& fault : MemberFaults(graph, model.spec, members)) {
      errors->Add(absl::StrCat(path, ".", fault.path), std::move(fault.what));
    }
  }
}

}  // namespace mpsd

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/units.h"
#include "proto/files/hub_name.h"
#include "proto/link/model_spec_reader.h"
#include "server/config/config_reader.h"
#include "server/config/config_values.h"
#include "server/config/tokenizer_stamp.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 34> kModelKeys = {"name",
                                                         "version",
                                                         "path",
                                                         "format",
                                                         "device",
                                                         "placement",
                                                         "max_batch_size",
                                                         "inputs",
                                                         "outputs",
                                                         "pad",
                                                         "warmup",
                                                         "keep_warm",
                                                         "sandbox",
                                                         "batching",
                                                         "queue",
                                                         "circuit",
                                                         "load_timeout",
                                                         "warmup_timeout",
                                                         "run_timeout",
                                                         "recycle",
                                                         "parameters",
                                                         "decoupled",
                                                         "text",
                                                         "task",
                                                         "default_for",
                                                         "precision",
                                                         "response_cache",
                                                         "steps",
                                                         "max_batch_tokens",
                                                         "max_request_rows",
                                                         "rate_limiter",
                                                         "weight",
                                                         "slo",
                                                         "sequences"};
constexpr std::array<std::string_view, 3> kPlacementKeys = {"processes", "lanes", "threads"};
constexpr std::array<std::string_view, 2> kBatchingKeys = {"max_delay", "preferred_sizes"};
constexpr std::array<std::string_view, 8> kQueueKeys = {"requests",
                                                        "bytes",
                                                        "timeout",
                                                        "timeout_action",
                                                        "allow_timeout_override",
                                                        "priorities",
                                                        "default_priority",
                                                        "target"};
constexpr std::array<std::string_view, 1> kSloKeys = {"p99"};
constexpr std::array<std::string_view, 4> kPolicyKeys = {"requests", "timeout", "timeout_action",
                                                         "allow_timeout_override"};
constexpr std::array<std::string_view, 2> kRateKeys = {"resources", "priority"};
constexpr std::array<std::string_view, 3> kNeedKeys = {"name", "count", "global"};
constexpr std::array<std::string_view, 4> kTextKeys = {"tokenizer", "max_tokens", "long_input",
                                                       "side"};
constexpr std::array<std::string_view, 2> kCircuitKeys = {"deaths", "period"};
constexpr std::array<std::string_view, 3> kRecycleKeys = {"resident_memory", "requests", "age"};

// Keys that people often write one level too high.
constexpr std::array<JsonObject::Inner, 8> kModelObjects = {{{"placement", kPlacementKeys},
                                                             {"batching", kBatchingKeys},
                                                             {"queue", kQueueKeys},
                                                             {"slo", kSloKeys},
                                                             {"text", kTextKeys},
                                                             {"circuit", kCircuitKeys},
                                                             {"recycle", kRecycleKeys},
                                                             {"rate_limiter", kRateKeys}}};

constexpr uint64_t kMaxQueueBytes = 1ULL << 40;
constexpr int64_t kMaxDelayNs = 10 * kNsPerSecond;
constexpr uint32_t kMaxVersion = 2'000'000'000;
constexpr size_t kMaxParameters = 64;
constexpr size_t kMaxParameterBytes = 4096;
constexpr int64_t kMaxPhaseNs = 24 * 3600 * kNsPerSecond;
constexpr uint32_t kMaxDeaths = 1000;
constexpr int64_t kMaxPeriodNs = 3600 * kNsPerSecond;
constexpr uint32_t kMaxRecycleRequests = 4'000'000'000;
constexpr uint64_t kLeastRecycleBytes = 1ULL << 20;
constexpr uint64_t kMaxRecycleBytes = 1ULL << 44;
constexpr int64_t kMaxAgeNs = 365LL * 24 * 3600 * kNsPerSecond;

// Looked for when the config is complete (SetHubFolder()).
void ReadHubName(const JsonObject& object, absl::string_view path, ModelConfig* model) {
  model->format = ModelFormat::kHuggingFace;
  model->hub = std::string(absl::StripPrefix(path, hub::kHubPrefix));
  if (object.Find("format") != nullptr) object.GetChoice("format", &model->format);
  if (model->format != ModelFormat::kHuggingFace) {
    object.Fail("format", "a model at a hub is a folder (huggingface)");
  }
  if (hub::ParseHubName(path).has_value()) return;
  object.Fail("path", "must be hf:ORG/NAME or hf:ORG/NAME@REVISION");
}

void ReadFormat(const JsonObject& object, const std::string& folder,
                const std::string& written_path, ModelFormat* format) {
  if (object.Find("format") != nullptr) return object.GetChoice("format", format);
  if (written_path.empty()) return;
  const std::optional<ModelFormat> told = FormatOfPath(ResolvePath(folder, written_path));
  if (told.has_value()) {
    *format = *told;
    return;
  }
  const bool may_be_at_hub = hub::ParseHubName(written_path).has_value();
  object.Fail("path", absl::StrCat(JsonText(nlohmann::json(written_path)),
                                   " ends in neither .pt nor .pt2; say 'format' besides",
                                   may_be_at_hub ? ", or hf: in front of a hub's model" : ""));
}

void ReadSource(const JsonObject& object, const std::string& folder, ModelConfig* model) {
  std::string path;
  object.Get("path", &path);
  if (absl::StartsWith(path, hub::kHubPrefix)) return ReadHubName(object, path, model);
  ReadFormat(object, folder, path, &model->format);
  if (model->format == ModelFormat::kSynthetic) {
    if (object.Find("path") != nullptr) object.Fail("path", "a synthetic model has no file");
    object.Require("inputs");
    if (object.Find("inputs") != nullptr && object.Find("inputs")->empty()) {
      object.Fail("inputs", "a synthetic model must have at least one");
    }
    return;
  }
  object.Require("path");
  if (object.Find("path") == nullptr || !object.Find("path")->is_string()) return;
  if (path.empty()) return object.Fail("path", "must name a file or folder");
  model->path = ResolvePath(folder, path);
  const std::string fault = ModelPathFault(model->path, model->format);
  if (!fault.empty()) object.Fail("path", fault);
  model->stamp = StampOf(model->path);
}

void ReadDevice(const JsonObject& object, std::string* device) {
  object.Get("device", device);
  const std::string fault = DeviceFault(*device);
  if (!fault.empty()) object.Fail("device", fault);
}

// A synthetic model has no arithmetic to change.
void ReadPrecision(const JsonObject& object, ModelConfig* model) {
  object.GetChoice("precision", &model->precision);
  const bool is_fixed =
      model->precision != Precision::kAsSaved && model->precision != Precision::kAuto;
  if (!is_fixed || model->format != ModelFormat::kSynthetic) return;
  object.Fail("precision",
              "a synthetic model computes nothing; only as_saved and auto are allowed");
}

void ReadSandbox(const JsonObject& object, std::optional<SandboxLevel>* sandbox) {
  if (object.Find("sandbox") == nullptr) return;
  sandbox->emplace(SandboxLevel::kBasic);
  object.GetChoice("sandbox", &**sandbox);
}

void ReadCount(const JsonObject& object, std::string_view key, uint32_t maximum, uint32_t* count) {
  const nlohmann::json* found = object.Find(key);
  if (found == nullptr || *found == "auto") return;
  if (found->is_number()) return object.Get(key, 1, maximum, count);
  if (!found->is_string()) return object.Fail(key, WrongType("a whole number or 'auto'", *found));
  object.Fail(key, absl::StrCat("must be a whole number or 'auto', not ", JsonText(*found)));
}

void ReadPlacement(const JsonObject& model, PlacementConfig* placement) {
  const nlohmann::json* json = model.Find("placement");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("placement"), kPlacementKeys, model.errors());
  ReadCount(object, "processes", kMaxWorkers, &placement->processes);
  ReadCount(object, "lanes", kMaxLanes, &placement->lanes);
  ReadCount(object, "threads", kMaxThreads, &placement->threads);
}

void ReadPreferredSizes(const JsonObject& object, std::vector<uint32_t>* sizes) {
  object.GetList("preferred_sizes", kMaxPreferredSizes,
                 [&](const nlohmann::json& json, const std::string& path) {
                   const uint64_t size = json.is_number_unsigned() ? json.get<uint64_t>() : 0;
                   if (size >= 1 && size <= kMaxBatchRows) {
                     return sizes->push_back(static_cast<uint32_t>(size));
                   }
                   object.errors()->Add(
                       path, absl::StrCat("must be a whole number from 1 to ", kMaxBatchRows,
                                          ", not ", JsonText(json)));
                 });
  std::sort(sizes->begin(), sizes->end());
}

void ReadBatching(const JsonObject& model, BatchingConfig* batching) {
  const nlohmann::json* json = model.Find("batching");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("batching"), kBatchingKeys, model.errors());
  object.GetDuration("max_delay", kMaxDelayNs, &batching->max_delay_ns);
  ReadPreferredSizes(object, &batching->preferred_sizes);
}

void ReadMostRows(const JsonObject& model, ModelConfig* config) {
  model.Get("max_request_rows", 0, kMaxRequestParts * kMaxBatchRows, &config->max_request_rows);
  if (config->max_request_rows == 0) return;
  if (config->spec.decoupled) {
    model.Fail("max_request_rows", "is not for a decoupled model, whose requests have one row");
  } else if (config->max_request_rows < config->spec.max_batch_size) {
    model.Fail("max_request_rows",
               absl::StrCat("must be at least max_batch_size, ", config->spec.max_batch_size,
                            ", not ", config->max_request_rows));
  }
}

// If the file says the inputs, nobody knows yet whether it takes tokens.
void ReadTokenBudget(const JsonObject& model, ModelConfig* config) {
  model.Get("max_batch_tokens", 0, kMaxCountedTokens, &config->max_batch_tokens);
  const std::vector<TensorSpec>& inputs = config->spec.inputs;
  const auto takes_ids = [](const TensorSpec& input) { return input.name == "input_ids"; };
  if (config->max_batch_tokens == 0 || inputs.empty()) return;
  if (std::any_of(inputs.begin(), inputs.end(), takes_ids)) return;
  model.Fail("max_batch_tokens", "the model takes no tokens: it has no input 'input_ids'");
}

void ReadPolicy(const JsonObject& object, QueuePolicy* policy) {
  object.Get("requests", 1, kMaxQueueRequests, &policy->requests);
  object.GetDuration("timeout", kMaxQueueTimeoutNs, &policy->timeout_ns);
  object.GetChoice("timeout_action", &policy->timeout_action);
  object.Get("allow_timeout_override", &policy->allow_timeout_override);
}

// A level takes from the queue what it does not say. Requests without a level get the last: urgent
// ones say so.
void ReadPriorities(const JsonObject& queue, QueuePolicies* policies) {
  const QueuePolicy usual = policies->levels[0];
  std::vector<QueuePolicy> levels;
  queue.GetList("priorities", kMaxPriorityLevels,
                [&](const nlohmann::json& json, const std::string& path) {
                  levels.push_back(usual);
                  const JsonObject object(json, path, kPolicyKeys, queue.errors());
                  ReadPolicy(object, &levels.back());
                });
  if (!levels.empty()) policies->levels = std::move(levels);
  auto number = static_cast<uint32_t>(policies->levels.size());
  queue.Get("default_priority", 1, number, &number);
  policies->default_level = number - 1;
}

// One legal request always fits, so a larger message limit raises the default.
void ReadQueue(const JsonObject& model, const LimitsConfig& limits, ModelConfig* config) {
  config->queue_bytes = std::max(config->queue_bytes, limits.message_bytes);
  const nlohmann::json* json = model.Find("queue");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("queue"), kQueueKeys, model.errors());
  ReadPolicy(object, &config->queue.levels[0]);
  ReadPriorities(object, &config->queue);
  object.GetDuration("target", kMaxQueueTimeoutNs, &config->queue_target_ns);
  object.GetBytes("bytes", 1, kMaxQueueBytes, &config->queue_bytes);
  if (config->queue_bytes >= limits.message_bytes) return;
  const nlohmann::json* written = object.Find("bytes");
  MPSD_CHECK(written != nullptr);
  object.Fail("bytes", absl::StrCat("must be at least limits.message, ",
                                    BytesText(limits.message_bytes), ", not ", JsonText(*written)));
}

// A sequence waits in front of the pool, which does not see what is offered.
void ReadSlo(const JsonObject& model, ModelConfig* config) {
  const nlohmann::json* json = model.Find("slo");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("slo"), kSloKeys, model.errors());
  object.GetDuration("p99", kMaxQueueTimeoutNs, &config->slo_ns);
  if (config->slo_ns == 0 || !config->sequences.has_value()) return;
  model.Fail("slo", "is not for a model with sequences; scale such a model by mpsd_open_sequences");
}

void ReadNeed(const JsonObject& object, LaneNeeds* needs) {
  ResourceNeed need;
  object.Require("name");
  object.Get("name", &need.name);
  object.Get("count", 1, kMaxResourceCount, &need.count);
  object.Get("global", &need.is_global);
  const nlohmann::json* name = object.Find("name");
  if (name != nullptr && name->is_string()) {
    const std::string fault = ServableNameFault(need.name);
    if (!fault.empty()) object.Fail("name", fault);
  }
  for (const ResourceNeed& other : needs->resources) {
    if (other.name == need.name) object.Fail("name", "stands there twice");
  }
  needs->resources.push_back(std::move(need));
}

void ReadRateLimit(const JsonObject& model, LaneNeeds* needs) {
  const nlohmann::json* json = model.Find("rate_limiter");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("rate_limiter"), kRateKeys, model.errors());
  object.Get("priority", 1, kMaxTurnWeight, &needs->priority);
  object.GetList("resources", kMaxNeeds, [&](const nlohmann::json& need, const std::string& path) {
    ReadNeed(JsonObject(need, path, kNeedKeys, object.errors()), needs);
  });
}

// Turns and lane time cannot be added up: one of the two counts.
void ReadWeight(const JsonObject& object, LaneNeeds* needs) {
  object.Get("weight", 1, kMaxDeviceWeight, &needs->weight);
  if (needs->weight == 0 || needs->resources.empty()) return;
  object.Fail("weight", "a model with a rate_limiter has its turns by that");
}

void ReadTokenizer(const JsonObject& object, const std::string& folder, std::string* tokenizer) {
  if (object.Find("tokenizer") == nullptr) return;
  std::string path;
  object.Get("tokenizer", &path);
  if (!object.Find("tokenizer")->is_string()) return;
  if (path.empty()) return object.Fail("tokenizer", "must name a file");
  *tokenizer = ResolvePath(folder, path);
  const std::string fault = FileFault(*tokenizer);
  if (!fault.empty()) object.Fail("tokenizer", fault);
}

void ReadText(const JsonObject& model, const std::string& folder, ModelConfig* config) {
  TextPolicy& text = config->text;
  if (!config->path.empty() && config->format == ModelFormat::kHuggingFace) {
    text.tokenizer = TokenizerIn(config->path);
  }
  const nlohmann::json* json = model.Find("text");
  if (json != nullptr) {
    const JsonObject object(*json, model.PathOf("text"), kTextKeys, model.errors());
    ReadTokenizer(object, folder, &text.tokenizer);
    object.Get("max_tokens", 1, kMostConfiguredTokens, &text.max_tokens);
    object.GetChoice("long_input", &text.long_input);
    if (object.Find("side") != nullptr) object.GetChoice("side", &text.cut_side.emplace());
    if (text.tokenizer.empty() && config->hub.empty()) object.Require("tokenizer");
  }
  if (!text.tokenizer.empty()) config->tokenizer_stamp = StampOfTokenizer(text.tokenizer);
}

std::string ParameterText(const nlohmann::json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

void ReadParameter(const std::string& key, const nlohmann::json& json, const std::string& path,
                   ModelConfig* model, JsonErrors* errors) {
  if (!json.is_string() && !json.is_number() && !json.is_boolean()) {
    return errors->Add(path, WrongType("a string, a number or a boolean", json));
  }
  std::string text = ParameterText(json);
  if (key.empty() || key.size() > kMaxNameBytes || text.size() > kMaxParameterBytes) {
    return errors->Add(path, absl::StrCat("a parameter's name is 1 to ", kMaxNameBytes,
                                          " bytes, its value at most ", kMaxParameterBytes));
  }
  model->parameters[key] = std::move(text);
}

void ReadParameters(const JsonObject& object, ModelConfig* model) {
  object.GetMembers(
      "parameters", kMaxParameters,
      [&](const std::string& key, const nlohmann::json& json, const std::string& path) {
        ReadParameter(key, json, path, model, object.errors());
      });
}

void ReadDefaultFor(const JsonObject& object, std::vector<ModelTask>* tasks) {
  const auto read = [&](const nlohmann::json& json, const std::string& path) {
    const auto task = FromName<ModelTask>(json.is_string() ? json.get<std::string>() : "");
    if (!task.has_value() || *task == ModelTask::kAuto) {
      object.errors()->Add(
          path, absl::StrCat("must be one of embedding, rerank, classify, not ", JsonText(json)));
    } else if (std::count(tasks->begin(), tasks->end(), *task) > 0) {
      object.errors()->Add(path, "stands there twice");
    } else {
      tasks->push_back(*task);
    }
  };
  object.GetList("default_for", kNamesOf<ModelTask>.size() - 1, read);
}

// A decoupled model has several answers, so none can be kept.
void ReadResponseCache(const JsonObject& object, ModelConfig* model) {
  object.GetChoice("response_cache", &model->response_cache);
  if (model->response_cache == CacheScope::kOff || !model->spec.decoupled) return;
  object.Fail("response_cache", "a decoupled model's answers are not kept");
}

// The key is there: the default is large enough.
void FailBelow(const JsonObject& object, std::string_view key, absl::string_view least) {
  const nlohmann::json* written = object.Find(key);
  MPSD_CHECK(written != nullptr);
  object.Fail(key, absl::StrCat("must be at least '", least, "', not ", JsonText(*written)));
}

// 0 or at least a second: a shorter time would end healthy workers.
void ReadTimeout(const JsonObject& object, std::string_view key, int64_t maximum_ns,
                 int64_t* value_ns) {
  object.GetDuration(key, maximum_ns, value_ns);
  if (*value_ns == 0 || *value_ns >= kNsPerSecond) return;
  FailBelow(object, key, "1s");
}

void ReadCircuit(const JsonObject& model, CircuitLimits* limits) {
  const nlohmann::json* json = model.Find("circuit");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("circuit"), kCircuitKeys, model.errors());
  object.Get("deaths", 0, kMaxDeaths, &limits->deaths);
  int64_t& period_ns = limits->period_ns;
  object.GetDuration("period", kMaxPeriodNs, &period_ns);
  if (period_ns >= kNsPerSecond) return;
  FailBelow(object, "period", "1s");
}

void ReadRecycle(const JsonObject& model, RecycleLimits* limits) {
  const nlohmann::json* json = model.Find("recycle");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("recycle"), kRecycleKeys, model.errors());
  uint64_t& resident_bytes = limits->resident_bytes;
  object.GetBytes("resident_memory", 0, kMaxRecycleBytes, &resident_bytes);
  if (resident_bytes > 0 && resident_bytes < kLeastRecycleBytes) {
    FailBelow(object, "resident_memory", "1MiB");
  }
  uint32_t requests = 0;
  object.Get("requests", 0, kMaxRecycleRequests, &requests);
  limits->requests = requests;
  ReadTimeout(object, "age", kMaxAgeNs, &limits->age_ns);
}

void ReadSupervision(const JsonObject& model, SupervisionLimits* limits) {
  for (const auto& [key, value_ns] : {std::pair("load_timeout", &limits->load_timeout_ns),
                                      std::pair("warmup_timeout", &limits->warmup_timeout_ns)}) {
    ReadTimeout(model, key, kMaxPhaseNs, value_ns);
    if (*value_ns == 0) model.Fail(key, "must be at least '1s', not none");
  }
  const nlohmann::json* run = model.Find("run_timeout");
  if (run != nullptr && *run != "auto") {
    ReadTimeout(model, "run_timeout", kMaxPhaseNs, &limits->run_timeout_ns);
  }
  ReadCircuit(model, &limits->circuit);
  ReadRecycle(model, &limits->recycle);
}

}  // namespace

ModelConfig ReadModelConfig(const nlohmann::json& json, const std::string& path,
                            const std::string& folder, const LimitsConfig& limits,
                            JsonErrors* errors) {
  ModelConfig model;
  const JsonObject object(json, path, kModelKeys, errors, kModelObjects);
  if (!json.is_object()) return model;
  object.Require("name");
  object.Get("name", &model.name);
  const nlohmann::json* name = object.Find("name");
  if (name != nullptr && name->is_string()) {
    const std::string fault = ServableNameFault(model.name);
    if (!fault.empty()) object.Fail("name", fault);
  }
  uint32_t version = 1;
  object.Get("version", 1, kMaxVersion, &version);
  model.version = absl::StrCat(version);
  if (object.Find("steps") != nullptr) {
    ReadStepsConfig(object, limits, &model);
    ReadParameters(object, &model);
    return model;
  }
  ReadSource(object, folder, &model);
  ReadDevice(object, &model.device);
  ReadPrecision(object, &model);
  ReadPlacement(object, &model.placement);
  ReadModelSpec(object, &model.spec);
  object.GetChoice("warmup", &model.warmup);
  ReadTimeout(object, "keep_warm", kMaxPhaseNs, &model.keep_warm_ns);
  ReadSandbox(object, &model.sandbox);
  ReadBatching(object, &model.batching);
  ReadMostRows(object, &model);
  ReadTokenBudget(object, &model);
  ReadQueue(object, limits, &model);
  ReadRateLimit(object, &model.lane_needs);
  ReadWeight(object, &model.lane_needs);
  ReadSupervision(object, &model.supervision);
  ReadText(object, folder, &model);
  ReadDefaultFor(object, &model.default_for);
  ReadResponseCache(object, &model);
  ReadSequences(object, &model);
  ReadSlo(object, &model);
  ReadParameters(object, &model);
  return model;
}

}  // namespace mpsd

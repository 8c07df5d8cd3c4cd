#include "worker/model/encoder/config/sentence_config.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/bounded_json.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr absl::string_view kModePrefix = "pooling_mode_";
constexpr size_t kMaxSteps = 16;
constexpr int64_t kMaxFeatures = 1 << 24;

constexpr std::pair<absl::string_view, Pooling> kPoolings[] = {{"mean", Pooling::kMean},
                                                               {"cls", Pooling::kFirst},
                                                               {"lasttoken", Pooling::kLast},
                                                               {"max", Pooling::kMax}};

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

std::string Text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// The modes that are on: "mean_tokens". A newer file has one key with one word.
std::vector<std::string> PoolingModes(const Json& json) {
  std::vector<std::string> modes;
  if (json.contains("pooling_mode")) {
    const Json& mode = json["pooling_mode"];
    for (const Json& one : mode.is_array() ? mode : Json::array({mode})) {
      modes.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    }
    return modes;
  }
  for (const auto& item : json.items()) {
    if (!absl::StartsWith(item.key(), kModePrefix) || item.value() != true) continue;
    modes.push_back(item.key().substr(kModePrefix.size()));
  }
  return modes;
}

// Directly in the model's folder; "" is the model's folder itself.
bool IsFolderName(const std::string& name) {
  return name != "." && name != ".." && name.size() < 256 && !absl::StrContains(name, "/");
}

absl::Status CheckEncoderFirst(const Json& steps) {
  const Json& first = steps.empty() ? steps : steps[0];
  if (first.is_object() && absl::EndsWith(Text(first, "type"), "Transformer")) {
    const std::string path = Text(first, "path");
    if (path.empty() || path == "." || path == "./") return absl::OkStatus();
    return Wrong(absl::StrCat("the encoder is in the folder '", path,
                              "'; mpsd reads it from the model's own"));
  }
  return Wrong("the first step must be a Transformer");
}

absl::StatusOr<SentenceStep> ReadStep(const Json& json) {
  const std::string type = json.is_object() ? Text(json, "type") : "";
  const std::string name = type.substr(type.rfind('.') + 1);
  SentenceStep step;
  step.folder = json.is_object() ? Text(json, "path") : "";
  if (!IsFolderName(step.folder)) return Wrong("a step's path leads out of the folder");
  if (name == "Pooling") {
    step.kind = SentenceStep::kPooling;
  } else if (name == "Dense") {
    step.kind = SentenceStep::kDense;
  } else if (name == "Normalize") {
    step.kind = SentenceStep::kNormalize;
  } else if (name == "LogitScore") {
    step.kind = SentenceStep::kLogitScore;
  } else {
    return Wrong(absl::StrCat("the step ", name.empty() ? "without a type" : name.substr(0, 100),
                              " would be lost; mpsd knows Transformer, Pooling, Dense, Normalize, "
                              "LogitScore"));
  }
  return step;
}

}  // namespace

absl::StatusOr<std::vector<SentenceStep>> ParseSentenceSteps(absl::string_view json) {
  const absl::StatusOr<Json> list = ParseBoundedJson(json, kMaxSettings);
  if (!list.ok()) return list.status();
  if (!list->is_array() || list->size() > kMaxSteps) {
    return Wrong(absl::StrCat("is no JSON array of at most ", kMaxSteps, " steps"));
  }
  if (absl::Status status = CheckEncoderFirst(*list); !status.ok()) return status;
  std::vector<SentenceStep> steps;
  for (size_t i = 1; i < list->size(); ++i) {
    absl::StatusOr<SentenceStep> step = ReadStep((*list)[i]);
    if (!step.ok()) return step.status();
    if (step->kind == SentenceStep::kLogitScore) {
      if (list->size() != 2) return Wrong("LogitScore must be the second step, and the last one");
    } else if ((step->kind == SentenceStep::kPooling) != (i == 1)) {
      return Wrong("Pooling must be the second step, and no other");
    }
    steps.push_back(*std::move(step));
  }
  return steps;
}

absl::StatusOr<Pooling> ParsePooling(absl::string_view json) {
  const absl::StatusOr<Json> config = ParseSettings(json);
  if (!config.ok()) return config.status();
  if (config->contains("include_prompt") && (*config)["include_prompt"] != true) {
    return Wrong("'include_prompt' is false: mpsd pools all tokens");
  }
  const std::vector<std::string> modes = PoolingModes(*config);
  for (const auto& [name, pooling] : kPoolings) {
    if (modes.size() != 1) break;
    absl::string_view mode = modes[0];
    absl::ConsumeSuffix(&mode, "_tokens") || absl::ConsumeSuffix(&mode, "_token");
    if (mode == name) return pooling;
  }
  return Wrong(
      absl::StrCat("the model pools by ", modes.empty() ? "no mode" : absl::StrJoin(modes, " and "),
                   "; mpsd knows mean_tokens, cls_token, lasttoken, max_tokens, one of them"));
}

absl::Status CheckLogitScore(absl::string_view json) {
  const absl::StatusOr<Json> config = ParseSettings(json);
  if (!config.ok()) return config.status();
  for (const auto& [key, token] :
       {std::pair("true_token_id", kYesToken), std::pair("false_token_id", kNoToken)}) {
    if (config->value(key, Json()) == token) continue;
    return Wrong(
        absl::StrCat("'", key, "' is not ", token, "; mpsd knows the words of Qwen3-Reranker"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Activation>> ParseScoreActivation(absl::string_view json) {
  const absl::StatusOr<Json> config = ParseSettings(json);
  if (!config.ok()) return config.status();
  const auto found = config->find("activation_fn");
  if (found == config->end() || found->is_null()) return std::nullopt;
  const absl::StatusOr<Activation> activation = ActivationOfClass(Text(*config, "activation_fn"));
  if (!activation.ok()) return activation.status();
  return *activation;
}

absl::StatusOr<DenseConfig> ParseDense(absl::string_view json) {
  const absl::StatusOr<Json> parsed = ParseSettings(json);
  if (!parsed.ok()) return parsed.status();
  const Json& config = *parsed;
  if (config.value("use_residual", Json()) == true) {
    return Wrong("'use_residual' is true: mpsd does not add what went in");
  }
  for (const char* key : {"module_input_name", "module_output_name"}) {
    const Json feature = config.value(key, Json());
    if (feature.is_null() || feature == "sentence_embedding") continue;
    return Wrong(absl::StrCat("'", key, "' must be \"sentence_embedding\""));
  }
  DenseConfig dense;
  for (const auto& [key, number] :
       {std::pair("in_features", &dense.from), std::pair("out_features", &dense.to)}) {
    const auto found = config.find(key);
    if (found == config.end() || !found->is_number_unsigned() || *found < 1 ||
        *found > kMaxFeatures) {
      return Wrong(absl::StrCat("'", key, "' must be a whole number from 1 to ", kMaxFeatures));
    }
    *number = found->get<int64_t>();
  }
  dense.has_bias = config.value("bias", Json(true)) != false;
  const std::string name = Text(config, "activation_function");
  if (name.empty()) return dense;
  const absl::StatusOr<Activation> activation = ActivationOfClass(name);
  if (!activation.ok()) return activation.status();
  dense.activation = *activation;
  return dense;
}

absl::StatusOr<int64_t> ParseMaxTokens(absl::string_view json) {
  const absl::StatusOr<Json> config = ParseSettings(json);
  if (!config.ok()) return config.status();
  const auto found = config->find("max_seq_length");
  if (found == config->end() || found->is_null()) return 0;
  if (!found->is_number_unsigned() || *found < 1 || *found > kMaxFeatures) {
    return Wrong(absl::StrCat("'max_seq_length' must be a whole number from 1 to ", kMaxFeatures));
  }
  return found->get<int64_t>();
}

absl::StatusOr<int64_t> ParseTokenizerMaxTokens(absl::string_view json) {
  const absl::StatusOr<Json> config = ParseSettings(json);
  if (!config.ok()) return config.status();
  const auto found = config->find("model_max_length");
  if (found == config->end() || !found->is_number() || *found < 1 || *found > kMaxFeatures) {
    return 0;
  }
  return static_cast<int64_t>(found->get<double>());
}

absl::string_view NameOf(Pooling pooling) {
  for (const auto& [name, known] : kPoolings) {
    if (known == pooling) return name;
  }
  return "";
}

}  // namespace mpsd

#include "worker/tools/sentence_config.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr absl::string_view kModePrefix = "pooling_mode_";

Json Parse(absl::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

// The modes that are on, such as "mean_tokens".
std::vector<std::string> PoolingModes(const Json& json) {
  std::vector<std::string> modes;
  for (const auto& item : json.items()) {
    if (!absl::StartsWith(item.key(), kModePrefix) || item.value() != true) continue;
    modes.push_back(item.key().substr(kModePrefix.size()));
  }
  return modes;
}

// The class of a step, without the Python package that it stands in.
std::string StepName(const Json& step) {
  if (!step.is_object() || !step.contains("type") || !step["type"].is_string()) return step.dump();
  const std::string type = step["type"];
  return type.substr(type.rfind('.') + 1);
}

}  // namespace

absl::StatusOr<BertPooling> ParsePooling(absl::string_view json) {
  const Json config = Parse(json);
  if (!config.is_object()) return absl::InvalidArgumentError("is no JSON object");
  const std::vector<std::string> modes = PoolingModes(config);
  if (modes == std::vector<std::string>{"mean_tokens"}) return BertPooling::kMean;
  if (modes == std::vector<std::string>{"cls_token"}) return BertPooling::kCls;
  return absl::InvalidArgumentError(
      absl::StrCat("the model pools by ", modes.empty() ? "no mode" : absl::StrJoin(modes, " and "),
                   "; this importer knows mean_tokens and cls_token, one of them"));
}

absl::Status CheckModules(absl::string_view json) {
  const Json steps = Parse(json);
  if (!steps.is_array()) return absl::InvalidArgumentError("is no JSON array");
  for (const Json& step : steps) {
    const std::string name = StepName(step);
    if (name == "Transformer" || name == "Pooling" || name == "Normalize") continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the step ", name, " would be lost; this importer knows Transformer, Pooling, Normalize"));
  }
  return absl::OkStatus();
}

}  // namespace mpsd

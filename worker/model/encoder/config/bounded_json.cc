#include "worker/model/encoder/config/bounded_json.h"

#include "absl/status/status.h"
#include "proto/base/json_bounds.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDepth = 16;

absl::Status BadJson(absl::string_view what) { return absl::InvalidArgumentError(what); }

}  // namespace

absl::StatusOr<Json> ParseBoundedJson(absl::string_view text, size_t most_values) {
  const JsonBound bound = CheckJsonBounds(text, kMaxDepth, most_values);
  if (bound == JsonBound::kTooDeep) return BadJson("is nested too deep");
  if (bound == JsonBound::kTooManyValues) return BadJson("has too many values");
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return BadJson("is no JSON");
  return json;
}

absl::StatusOr<Json> ParseSettings(absl::string_view text) {
  absl::StatusOr<Json> json = ParseBoundedJson(text, kMaxSettings);
  if (json.ok() && !json->is_object()) return BadJson("is no JSON object");
  return json;
}

}  // namespace mpsd

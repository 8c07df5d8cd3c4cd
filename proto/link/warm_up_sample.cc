#include "proto/link/warm_up_sample.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

using Json = nlohmann::json;

// False if the member is missing or has another type.
bool Read(const Json& json, const char* key, std::string* text) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return false;
  *text = json[key];
  return true;
}

bool Read(const Json& json, const char* key, uint32_t maximum, uint32_t* number) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number_unsigned()) return false;
  if (json[key] < 1 || json[key] > maximum) return false;
  *number = json[key];
  return true;
}

bool Read(const Json& json, Dims* dims) {
  if (!json.is_object() || !json.contains("dims") || !json["dims"].is_array()) return false;
  for (const Json& dim : json["dims"]) {
    if (!dim.is_number_unsigned() || dim > uint64_t{INT64_MAX}) return false;
    dims->push_back(dim.get<int64_t>());
  }
  return true;
}

bool Read(const Json& json, WarmUpInput* input) {
  std::string datatype;
  std::string fill;
  std::string data;
  if (!Read(json, "name", &input->name) || !Read(json, "datatype", &datatype) ||
      !Read(json, "fill", &fill) || !Read(json, "data", &data) || !Read(json, &input->dims)) {
    return false;
  }
  input->datatype = ParseDataType(datatype);
  const std::optional<WarmUpFill> told = FromName<WarmUpFill>(fill);
  if (!told.has_value() || input->datatype == DataType::kInvalid) return false;
  input->fill = *told;
  return absl::Base64Unescape(data, &input->data);
}

bool Read(const Json& json, WarmUpSample* sample) {
  if (!Read(json, "rows", UINT32_MAX, &sample->rows) ||
      !Read(json, "runs", kMaxWarmUpRuns, &sample->runs) || !json.contains("inputs") ||
      !json["inputs"].is_array()) {
    return false;
  }
  for (const Json& input : json["inputs"]) {
    if (!Read(input, &sample->inputs.emplace_back())) return false;
  }
  return true;
}

}  // namespace

Json ToJson(const std::vector<WarmUpSample>& samples) {
  Json list = Json::array();
  for (const WarmUpSample& sample : samples) {
    Json inputs = Json::array();
    for (const WarmUpInput& input : sample.inputs) {
      inputs.push_back({{"name", input.name},
                        {"datatype", std::string(DataTypeName(input.datatype))},
                        {"dims", std::vector<uint64_t>(input.dims.begin(), input.dims.end())},
                        {"fill", NameOf(input.fill)},
                        {"data", absl::Base64Escape(input.data)}});
    }
    list.push_back({{"rows", sample.rows}, {"runs", sample.runs}, {"inputs", std::move(inputs)}});
  }
  return list;
}

absl::StatusOr<std::vector<WarmUpSample>> WarmUpSamplesFromJson(const Json& json) {
  std::vector<WarmUpSample> samples;
  bool good = json.is_array() && json.size() <= kMaxWarmUpSamples;
  for (size_t i = 0; good && i < json.size(); ++i) good = Read(json[i], &samples.emplace_back());
  if (!good) return absl::InvalidArgumentError("the samples are malformed");
  return samples;
}

}  // namespace mpsd

#include "proto/link/model_spec.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"
#include "proto/base/string_views.h"
#include "proto/link/model_spec_reader.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

Json ShapeToJson(const Dims& dims) {
  Json shape = Json::array();
  for (const int64_t dim : dims) shape.push_back(dim);
  return shape;
}

Json TensorsToJson(const std::vector<TensorSpec>& tensors) {
  Json list = Json::array();
  for (const TensorSpec& tensor : tensors) {
    Json json = {{"name", tensor.name},
                 {"datatype", std::string(DataTypeName(tensor.datatype))},
                 {"shape", ShapeToJson(tensor.dims)}};
    if (tensor.optional) json["optional"] = true;
    if (tensor.client_dims.has_value()) json["client_shape"] = ShapeToJson(*tensor.client_dims);
    list.push_back(std::move(json));
  }
  return list;
}

Json PadToJson(const std::vector<PadRule>& rules) {
  Json list = Json::array();
  for (const PadRule& rule : rules) {
    Json cuts = Json::array();
    for (const PadCut& cut : rule.outputs) {
      cuts.push_back({{"output", cut.output}, {"dim", cut.dim}});
    }
    list.push_back({{"input", rule.input},
                    {"dim", rule.dim},
                    {"buckets", rule.buckets},
                    {"value", rule.value},
                    {"outputs", std::move(cuts)}});
  }
  return list;
}

absl::Status BadTensorText(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", View(text), "': ", View(why)));
}

absl::Status ParseDims(std::string_view list, Dims* dims) {
  if (list.empty()) return absl::OkStatus();
  for (const absl::string_view item : absl::StrSplit(View(list), ',')) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(item, &dim)) {
      return absl::InvalidArgumentError(absl::StrCat("the dim '", item, "' is no whole number"));
    }
    dims->push_back(dim);
  }
  // The text of a batching model has the batch dim too.
  if (dims->size() > kMaxRank + 1) {
    return absl::InvalidArgumentError(absl::StrCat("at most ", kMaxRank + 1, " dims are allowed"));
  }
  const std::string fault = DimsFault(*dims);
  return fault.empty() ? absl::OkStatus() : absl::InvalidArgumentError("the shape " + fault);
}

}  // namespace

Json ToJson(const ModelSpec& spec) {
  return {{"max_batch_size", spec.max_batch_size},
          {"inputs", TensorsToJson(spec.inputs)},
          {"outputs", TensorsToJson(spec.outputs)},
          {"pad", PadToJson(spec.pad)},
          {"decoupled", spec.decoupled},
          {"task", NameOf(spec.task)}};
}

absl::StatusOr<ModelSpec> ModelSpecFromJson(const Json& json) {
  JsonErrors errors;
  const JsonObject object(json, "", ModelSpecKeys(), &errors);
  ModelSpec spec;
  ReadModelSpec(object, &spec);
  if (!errors.empty()) return errors.ToStatus();
  return spec;
}

std::string TensorText(const TensorSpec& tensor) {
  return absl::StrCat(tensor.name, ":", DataTypeName(tensor.datatype), ShapeText(tensor.dims));
}

absl::StatusOr<TensorSpec> ParseTensorText(std::string_view text) {
  // Only a name may hold colons.
  const size_t bracket = text.find('[');
  const size_t colon = text.substr(0, bracket).rfind(':');
  if (bracket == std::string_view::npos || colon == std::string_view::npos || text.back() != ']') {
    return BadTensorText(text, "must be like name:FP32[-1,16]");
  }
  TensorSpec tensor;
  tensor.name = std::string(text.substr(0, colon));
  const std::string name_fault = TensorNameFault(tensor.name);
  if (!name_fault.empty()) return BadTensorText(text, absl::StrCat("the name ", name_fault));
  const std::string_view datatype = text.substr(colon + 1, bracket - colon - 1);
  tensor.datatype = ParseDataType(View(datatype));
  if (tensor.datatype == DataType::kInvalid) {
    return BadTensorText(text, absl::StrCat("unknown datatype '", View(datatype), "'"));
  }
  const absl::Status dims =
      ParseDims(text.substr(bracket + 1, text.size() - bracket - 2), &tensor.dims);
  if (!dims.ok()) return BadTensorText(text, std::string(dims.message()));
  return tensor;
}

}  // namespace mpsd

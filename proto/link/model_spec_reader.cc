#include "proto/link/model_spec_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/limits.h"
#include "proto/base/reshape.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 6> kSpecKeys = {"max_batch_size", "inputs", "outputs", "pad",
                                                       "decoupled",      "task"};
constexpr std::array<std::string_view, 5> kTensorKeys = {"name", "datatype", "shape", "optional",
                                                         "client_shape"};
constexpr std::array<std::string_view, 5> kPadKeys = {"input", "dim", "buckets", "value",
                                                      "outputs"};
constexpr std::array<std::string_view, 2> kCutKeys = {"output", "dim"};
constexpr std::array<std::string_view, 14> kDataTypes = {
    "BOOL",  "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16",
    "INT32", "INT64", "FP16",   "FP32",   "FP64",   "BF16", "BYTES"};
static_assert(kDataTypes.size() + 1 == kDataTypeCount);

std::optional<int64_t> WholeNumber(const nlohmann::json& json) {
  if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) return std::nullopt;
  if (!json.is_number_integer()) return std::nullopt;
  return json.get<int64_t>();
}

void ReadDataType(const JsonObject& object, DataType* datatype) {
  const nlohmann::json* found = object.Find("datatype");
  if (found == nullptr) return;
  if (!found->is_string()) return object.Fail("datatype", WrongType("a string", *found));
  const std::string name = found->get<std::string>();
  *datatype = ParseDataType(name);
  if (*datatype != DataType::kInvalid) return;
  object.Fail("datatype",
              absl::StrCat("unknown datatype ", JsonText(nlohmann::json(name)),
                           DidYouMean(absl::AsciiStrToUpper(name), kDataTypes, "there are")));
}

// False if the dims form no valid shape.
bool ReadShape(const JsonObject& object, std::string_view key, Dims* dims) {
  object.GetList(key, kMaxRank, [&](const nlohmann::json& element, const std::string& path) {
    const std::optional<int64_t> dim = WholeNumber(element);
    const bool good = dim.has_value() && *dim >= -1;
    dims->push_back(good ? *dim : 1);
    if (good) return;
    object.errors()->Add(path, absl::StrCat("must be a whole number, or -1 for any length, not ",
                                            JsonText(element)));
  });
  const std::string fault = DimsFault(*dims);
  if (!fault.empty()) object.Fail(key, fault);
  return fault.empty();
}

void ReadShapes(const JsonObject& object, TensorSpec* tensor) {
  bool good = ReadShape(object, "shape", &tensor->dims);
  if (object.Find("client_shape") == nullptr) return;
  Dims told;
  good = ReadShape(object, "client_shape", &told) && good;
  if (!good || told == tensor->dims) return;
  const std::string fault = ReshapeFault(told, tensor->dims);
  if (!fault.empty()) object.Fail("client_shape", fault);
  tensor->client_dims = std::move(told);
}

TensorSpec ReadTensor(const nlohmann::json& json, const std::string& path, JsonErrors* errors) {
  const JsonObject object(json, path, kTensorKeys, errors);
  TensorSpec tensor;
  for (const char* key : {"name", "datatype", "shape"}) object.Require(key);
  object.Get("name", &tensor.name);
  const nlohmann::json* name = object.Find("name");
  if (name != nullptr && name->is_string()) {
    const std::string fault = TensorNameFault(tensor.name);
    if (!fault.empty()) object.Fail("name", fault);
  }
  ReadDataType(object, &tensor.datatype);
  ReadShapes(object, &tensor);
  object.Get("optional", &tensor.optional);
  return tensor;
}

void ReadTensors(const JsonObject& object, std::string_view key, std::vector<TensorSpec>* tensors) {
  object.GetList(key, kMaxTensors, [&](const nlohmann::json& json, const std::string& path) {
    TensorSpec tensor = ReadTensor(json, path, object.errors());
    const bool twice = std::any_of(tensors->begin(), tensors->end(), [&](const TensorSpec& other) {
      return other.name == tensor.name;
    });
    if (twice) {
      object.errors()->Add(JsonPath(path, "name"),
                           absl::StrCat("'", tensor.name, "' stands twice"));
    }
    if (tensor.optional && key == "outputs") {
      object.errors()->Add(JsonPath(path, "optional"), "is for an input");
    }
    if (!tensor.name.empty()) tensors->push_back(std::move(tensor));
  });
}

// A reference to a dim, checked against `tensors` if there are any. Null if unknown or refused.
const TensorSpec* ReadReference(const JsonObject& object, std::string_view key,
                                const std::vector<TensorSpec>& tensors, std::string* name,
                                uint32_t* dim) {
  object.Require(key);
  object.Require("dim");
  object.Get(key, name);
  object.Get("dim", 0, kMaxRank - 1, dim);
  if (tensors.empty() || name->empty()) return nullptr;
  std::vector<std::string_view> names;
  for (const TensorSpec& tensor : tensors) {
    names.push_back(tensor.name);
    if (tensor.name != *name) continue;
    if (tensor.client_dims.has_value()) {
      object.Fail(key, absl::StrCat("'", *name, "' has a client_shape, which excludes padding"));
      return nullptr;
    }
    if (*dim < tensor.dims.size() && tensor.dims[*dim] == -1) return &tensor;
    object.Fail("dim", absl::StrCat("must name a dim of '", *name, "' that is -1; its shape is ",
                                    ShapeText(tensor.dims)));
    return nullptr;
  }
  const std::string_view kind = key;
  object.Fail(key,
              absl::StrCat("there is no ", absl::string_view(kind.data(), kind.size()), " ",
                           JsonText(nlohmann::json(*name)), DidYouMean(*name, names, "there are")));
  return nullptr;
}

void ReadBuckets(const JsonObject& object, std::vector<int64_t>* buckets) {
  object.Require("buckets");
  object.GetList("buckets", kMaxBuckets, [&](const nlohmann::json& json, const std::string& path) {
    const std::optional<int64_t> bucket = WholeNumber(json);
    const int64_t floor = buckets->empty() ? 0 : buckets->back();
    if (!bucket.has_value() || *bucket <= floor) {
      object.errors()->Add(path, absl::StrCat("must be a whole number above ", floor,
                                              " (buckets ascend), not ", JsonText(json)));
      return;
    }
    buckets->push_back(*bucket);
  });
  const nlohmann::json* found = object.Find("buckets");
  if (found != nullptr && found->is_array() && found->empty()) {
    object.Fail("buckets", "must hold at least one length");
  }
}

bool Holds(DataType datatype, double value) {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  const double bits = static_cast<double>(ElementBytes(datatype)) * 8;
  switch (datatype) {
    case DataType::kBool:
      minimum = 0, maximum = 1;
      break;
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
    case DataType::kUint64:
      minimum = 0, maximum = std::exp2(bits) - 1;
      break;
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      minimum = -std::exp2(bits - 1), maximum = std::exp2(bits - 1) - 1;
      break;
    default:
      return true;
  }
  return value == std::floor(value) && value >= minimum && value <= maximum;
}

void ReadPadRule(const nlohmann::json& json, const std::string& path, JsonErrors* errors,
                 ModelSpec* spec) {
  const JsonObject object(json, path, kPadKeys, errors);
  PadRule rule;
  const TensorSpec* input = ReadReference(object, "input", spec->inputs, &rule.input, &rule.dim);
  ReadBuckets(object, &rule.buckets);
  object.Get("value", &rule.value);
  if (input != nullptr && input->datatype == DataType::kBytes) {
    object.Fail("input", "a BYTES input cannot be padded");
  } else if (input != nullptr && !Holds(input->datatype, rule.value)) {
    object.Fail("value", absl::StrCat("must be a value of ", DataTypeName(input->datatype),
                                      ", not ", JsonText(nlohmann::json(rule.value))));
  }
  object.GetList("outputs", kMaxTensors,
                 [&](const nlohmann::json& cut_json, const std::string& at) {
                   const JsonObject cut_object(cut_json, at, kCutKeys, errors);
                   PadCut cut;
                   ReadReference(cut_object, "output", spec->outputs, &cut.output, &cut.dim);
                   rule.outputs.push_back(std::move(cut));
                 });
  for (const PadRule& other : spec->pad) {
    if (other.input == rule.input && other.dim == rule.dim && !rule.input.empty()) {
      errors->Add(path, "pads the same dim of the same input as an earlier rule");
    }
  }
  spec->pad.push_back(std::move(rule));
}

}  // namespace

absl::Span<const std::string_view> ModelSpecKeys() { return kSpecKeys; }

void ReadModelSpec(const JsonObject& object, ModelSpec* spec) {
  object.Get("max_batch_size", 0, kMaxBatchRows, &spec->max_batch_size);
  ReadTensors(object, "inputs", &spec->inputs);
  ReadTensors(object, "outputs", &spec->outputs);
  object.GetList("pad", kMaxTensors, [&](const nlohmann::json& json, const std::string& path) {
    ReadPadRule(json, path, object.errors(), spec);
  });
  object.Get("decoupled", &spec->decoupled);
  object.GetChoice("task", &spec->task);
  if (spec->decoupled && spec->batches()) {
    object.Fail("decoupled",
                "is for a model that takes one request at a time: max_batch_size is 0");
  }
}

std::string TensorNameFault(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == ':' || c == '-';
  });
  if (plain && !name.empty() && name.size() <= kMaxNameBytes) return "";
  return absl::StrCat("must be 1 to ", kMaxNameBytes,
                      " letters, digits, '_', '.', ':' or '-', not ",
                      JsonText(nlohmann::json(std::string(name))));
}

std::string DimsFault(absl::Span<const int64_t> dims) {
  Dims fixed;
  for (const int64_t dim : dims) {
    if (dim < -1) return absl::StrCat("has a dim of ", dim, "; -1 stands for any length");
    fixed.push_back(dim == -1 ? 1 : dim);
  }
  // No element is larger than 8 bytes.
  if (!TensorBytes(DataType::kInt64, fixed).has_value()) return "is larger than any memory";
  return "";
}

}  // namespace mpsd

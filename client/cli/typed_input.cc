#include "client/cli/typed_input.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/format/elements.h"
#include "client/tensor.h"
#include "proto/base/limits.h"
#include "proto/link/json_object.h"

namespace mpsd::cli {
namespace {

using Json = nlohmann::json;

template <class T>
bool AppendInteger(const Json& element, std::string* bytes) {
  if (element.is_number_unsigned()) {
    const auto value = element.get<uint64_t>();
    if (value > static_cast<uint64_t>(std::numeric_limits<T>::max())) return false;
    client::AppendNumber(static_cast<T>(value), bytes);
    return true;
  }
  if (!element.is_number_integer()) return false;
  const auto value = element.get<int64_t>();
  const bool fits = std::numeric_limits<T>::is_signed &&
                    value >= static_cast<int64_t>(std::numeric_limits<T>::min());
  if (fits) client::AppendNumber(static_cast<T>(value), bytes);
  return fits;
}

bool AppendBool(const Json& element, std::string* bytes) {
  const bool is_bit = element == 0 || element == 1;
  if (!element.is_boolean() && !is_bit) return false;
  client::AppendNumber(static_cast<uint8_t>(element == true || element == 1), bytes);
  return true;
}

bool AppendText(const Json& element, std::string* bytes) {
  if (!element.is_string()) return false;
  bytes->append(client::PackBytes({element.get<std::string>()}));
  return true;
}

bool AppendReal(DataType datatype, const Json& element, std::string* bytes) {
  if (!element.is_number()) return false;
  const auto value = element.get<double>();
  switch (datatype) {
    case DataType::kFp16:
      client::AppendNumber(DoubleToHalf(value), bytes);
      return true;
    case DataType::kBf16:
      client::AppendNumber(FloatToBFloat(static_cast<float>(value)), bytes);
      return true;
    case DataType::kFp32:
      client::AppendNumber(static_cast<float>(value), bytes);
      return true;
    default:
      client::AppendNumber(value, bytes);
      return true;
  }
}

// False if it is not of the datatype.
bool AppendElement(DataType datatype, const Json& element, std::string* bytes) {
  switch (datatype) {
    case DataType::kBool:
      return AppendBool(element, bytes);
    case DataType::kUint8:
      return AppendInteger<uint8_t>(element, bytes);
    case DataType::kUint16:
      return AppendInteger<uint16_t>(element, bytes);
    case DataType::kUint32:
      return AppendInteger<uint32_t>(element, bytes);
    case DataType::kUint64:
      return AppendInteger<uint64_t>(element, bytes);
    case DataType::kInt8:
      return AppendInteger<int8_t>(element, bytes);
    case DataType::kInt16:
      return AppendInteger<int16_t>(element, bytes);
    case DataType::kInt32:
      return AppendInteger<int32_t>(element, bytes);
    case DataType::kInt64:
      return AppendInteger<int64_t>(element, bytes);
    case DataType::kBytes:
      return AppendText(element, bytes);
    case DataType::kInvalid:
      return false;
    default:
      return AppendReal(datatype, element, bytes);
  }
}

// Nothing if `count` elements do not fill the open dims.
std::optional<Dims> FilledShape(Dims shape, uint64_t count) {
  int64_t* last_open = nullptr;
  uint64_t others = 1;
  for (int64_t& dim : shape) {
    if (dim < 0) {
      last_open = &dim;
      dim = 1;
    }
  }
  for (const int64_t& dim : shape) others *= static_cast<uint64_t>(dim);
  if (last_open == nullptr) return others == count ? std::optional(shape) : std::nullopt;
  if (others == 0 || count % others != 0) return std::nullopt;
  *last_open = static_cast<int64_t>(count / others);
  return shape;
}

// Puts the elements in a row. `dims` is the shape so far, and `depth` is `json`'s. The first list
// of a depth says its dim.
absl::Status Flatten(const Json& json, size_t depth, Dims* dims, std::vector<const Json*>* list) {
  if (!json.is_array()) {
    if (depth != dims->size()) return absl::InvalidArgumentError("its lists differ in depth");
    list->push_back(&json);
    return absl::OkStatus();
  }
  if (depth > kMaxRank) return absl::InvalidArgumentError("its lists are too deep");
  const auto length = static_cast<int64_t>(json.size());
  if (depth == dims->size()) {
    if (!list->empty()) return absl::InvalidArgumentError("its lists differ in depth");
    dims->push_back(length);
  }
  if ((*dims)[depth] != length) return absl::InvalidArgumentError("its lists differ in length");
  for (const Json& element : json) {
    absl::Status status = Flatten(element, depth + 1, dims, list);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<NpyArray> ArrayOf(const std::vector<const Json*>& elements, const Dims& nested,
                                 const client::TensorMetadata& input, const Dims* shape) {
  NpyArray array{input.datatype, shape != nullptr ? *shape : nested, ""};
  std::optional<Dims> filled;
  if (shape == nullptr && nested.size() < 2) filled = FilledShape(input.shape, elements.size());
  if (filled.has_value()) array.shape = *std::move(filled);
  const bool is_whole =
      shape != nullptr || filled.has_value() || nested.size() == input.shape.size();
  if (!is_whole || ElementCount(array.shape) != elements.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(elements.size(), " elements do not make up ",
                     ShapeText(shape != nullptr ? *shape : input.shape)));
  }
  for (const Json* element : elements) {
    if (AppendElement(input.datatype, *element, &array.bytes)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(JsonText(*element), " is no ", DataTypeName(input.datatype)));
  }
  return array;
}

}  // namespace

absl::StatusOr<NpyArray> WordsArray(absl::string_view words, const client::TensorMetadata& input,
                                    const Dims* shape) {
  std::vector<Json> values;
  if (input.datatype == DataType::kBytes) {
    values.emplace_back(std::string(words));
  } else {
    for (const absl::string_view word : absl::StrSplit(words, ',')) {
      Json value = Json::parse(word.begin(), word.end(), nullptr, /*allow_exceptions=*/false);
      // A word that is no JSON is shown as typed.
      if (value.is_discarded() || value.is_structured()) value = Json(std::string(word));
      values.push_back(std::move(value));
    }
  }
  std::vector<const Json*> elements;
  elements.reserve(values.size());
  for (const Json& value : values) elements.push_back(&value);
  return ArrayOf(elements, {static_cast<int64_t>(values.size())}, input, shape);
}

absl::StatusOr<NpyArray> BytesArray(absl::string_view content, const client::TensorMetadata& input,
                                    const Dims* shape) {
  if (input.datatype == DataType::kBytes) return WordsArray(content, input, shape);
  return absl::InvalidArgumentError(
      absl::StrCat("its file is neither .npy nor .json, and only an input of BYTES takes a file as "
                   "it is; this one takes ",
                   DataTypeName(input.datatype), ShapeText(input.shape),
                   ", so decode the file into numpy's format first"));
}

absl::StatusOr<NpyArray> JsonArray(absl::string_view text, const client::TensorMetadata& input,
                                   const Dims* shape) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("its file is no JSON");
  Dims nested;
  std::vector<const Json*> elements;
  const absl::Status status = Flatten(json, 0, &nested, &elements);
  if (!status.ok()) return status;
  return ArrayOf(elements, nested, input, shape);
}

}  // namespace mpsd::cli

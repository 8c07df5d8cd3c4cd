#include "server/texts/token_tensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "proto/base/check.h"

namespace mpsd {
namespace {

const PadRule* FindPadRule(const ModelSpec& spec, const std::string& input) {
  const auto found = std::find_if(spec.pad.begin(), spec.pad.end(),
                                  [&](const PadRule& rule) { return rule.input == input; });
  return found == spec.pad.end() ? nullptr : &*found;
}

size_t MostOf(const ModelSpec& spec, size_t place) {
  const TensorSpec& input = spec.inputs[place];
  if (input.dims[0] >= 0) return static_cast<size_t>(input.dims[0]);
  const PadRule* rule = FindPadRule(spec, input.name);
  if (rule == nullptr || rule->buckets.empty()) return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(rule->buckets.back());
}

template <typename Id>
void Write(int64_t value, size_t index, std::string* tensor) {
  const auto id = static_cast<Id>(value);
  std::memcpy(tensor->data() + index * sizeof(id), &id, sizeof(id));
}

// A model of a fixed length takes only that.
size_t LengthOf(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                const TokenPlaces& places) {
  for (const size_t place : {places.ids, places.mask}) {
    const int64_t fixed = spec.inputs[place].dims[0];
    if (fixed >= 0) return static_cast<size_t>(fixed);
  }
  size_t length = 0;
  for (const text::Encoding& encoding : encodings) length = std::max(length, encoding.ids.size());
  return length;
}

// Appends a tensor with `at(row, column)` at each place.
template <typename At>
void Add(const TensorSpec& spec, size_t row_count, size_t length, const At& at, TokenRows* rows) {
  std::string& tensor =
      rows->tensors.emplace_back(row_count * length * ElementBytes(spec.datatype), '\0');
  const bool is_wide = spec.datatype == DataType::kInt64;
  for (size_t row = 0; row < row_count; ++row) {
    for (size_t column = 0; column < length; ++column) {
      const size_t index = row * length + column;
      is_wide ? Write<int64_t>(at(row, column), index, &tensor)
              : Write<int32_t>(at(row, column), index, &tensor);
    }
  }
  InputMessage& input = rows->message.inputs.emplace_back();
  input.name = spec.name;
  input.datatype = DataTypeName(spec.datatype);
  input.dims = rows->dims;
  input.has_data = true;
  input.payload.Append(tensor);
}

}  // namespace

size_t MostRowTokens(const ModelSpec& spec, const TokenPlaces& places) {
  size_t most = std::min(MostOf(spec, places.ids), MostOf(spec, places.mask));
  if (places.types.has_value()) most = std::min(most, MostOf(spec, *places.types));
  return most == std::numeric_limits<size_t>::max() ? kUsualRowTokens : most;
}

uint64_t TensorBytesOf(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                       const TokenPlaces& places) {
  uint64_t element_bytes = ElementBytes(spec.inputs[places.ids].datatype) +
                           ElementBytes(spec.inputs[places.mask].datatype);
  if (places.types.has_value()) {
    element_bytes += ElementBytes(spec.inputs[*places.types].datatype);
  }
  return encodings.size() * LengthOf(encodings, spec, places) * element_bytes;
}

void PutTensors(absl::Span<const text::Encoding> encodings, const ModelSpec& spec,
                const TokenPlaces& places, TokenRows* rows) {
  const size_t length = LengthOf(encodings, spec, places);
  MPSD_CHECK(length > 0 && rows->tensors.empty());
  rows->dims = {static_cast<int64_t>(encodings.size()), static_cast<int64_t>(length)};
  rows->tensors.reserve(3);  // payloads are views, so tensors must not move
  rows->message.inputs.clear();
  const auto put = [&](size_t place, const auto& of_token, int64_t padding) {
    const auto at = [&](size_t row, size_t column) {
      const text::Encoding& encoding = encodings[row];
      return column < encoding.ids.size() ? of_token(encoding, column) : padding;
    };
    Add(spec.inputs[place], encodings.size(), length, at, rows);
  };
  const PadRule* pad = FindPadRule(spec, spec.inputs[places.ids].name);
  put(
      places.ids, [](const text::Encoding& encoding, size_t i) { return int64_t{encoding.ids[i]}; },
      pad == nullptr ? 0 : static_cast<int64_t>(pad->value));
  put(
      places.mask, [](const text::Encoding&, size_t) { return int64_t{1}; }, 0);
  if (!places.types.has_value()) return;
  put(
      *places.types,
      [](const text::Encoding& encoding, size_t i) { return int64_t{encoding.type_ids[i]}; }, 0);
}

}  // namespace mpsd

#include "worker/model/encoder/weights/safetensors.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/base/shape.h"
#include "worker/model/encoder/config/bounded_json.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxHeaderBytes = 100ULL << 20;  // the format's own limit
constexpr size_t kMaxHeaderValues = kMaxTensorsOfAFile * (kMaxTensorDims + 8);

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::Status BadTensor(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "' ", what));
}

// 0 for an unknown dtype.
uint64_t DtypeBytes(absl::string_view dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL") return 1;
  return 0;
}

// Nothing unless it is a list of non-negative integers.
std::optional<std::vector<int64_t>> WholeNumbers(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json& element : *found) {
    if (!element.is_number_unsigned() || element.get<uint64_t>() > INT64_MAX) return std::nullopt;
    numbers.push_back(element.get<int64_t>());
  }
  return numbers;
}

absl::StatusOr<StoredTensor> ReadEntry(const std::string& name, const Json& entry,
                                       absl::string_view data) {
  if (!entry.is_object()) return BadTensor(name, "is described by no object");
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) return BadTensor(name, "has no dtype");
  StoredTensor view;
  view.dtype = dtype->get<std::string>();
  const uint64_t element_bytes = DtypeBytes(view.dtype);
  if (element_bytes == 0) return BadTensor(name, "has a dtype that is not known");
  std::optional<std::vector<int64_t>> shape = WholeNumbers(entry, "shape");
  if (!shape.has_value()) return BadTensor(name, "has no shape");
  if (shape->size() > kMaxTensorDims) return BadTensor(name, "has too many dims");
  view.shape = *std::move(shape);
  const std::optional<std::vector<int64_t>> offsets = WholeNumbers(entry, "data_offsets");
  if (!offsets.has_value() || offsets->size() != 2) return BadTensor(name, "has no data_offsets");
  const auto begin = static_cast<uint64_t>((*offsets)[0]);
  const auto end = static_cast<uint64_t>((*offsets)[1]);
  if (begin > end || end > data.size()) return BadTensor(name, "lies outside the file");
  const std::optional<uint64_t> count = ElementCount(view.shape);
  if (!count.has_value() || *count > data.size() || *count * element_bytes != end - begin) {
    return BadTensor(name, "has another number of bytes than its shape and dtype");
  }
  view.bytes = data.substr(begin, end - begin);
  return view;
}

// OK if every byte of `data` belongs to exactly one tensor.
absl::Status CheckTiling(const StoredTensors& tensors, absl::string_view data) {
  using Placed = std::pair<std::pair<const char*, const char*>, absl::string_view>;
  std::vector<Placed> placed;
  for (const auto& [name, view] : tensors) {
    const char* begin = view.bytes.data();
    placed.push_back({{begin, begin + view.bytes.size()}, name});
  }
  std::sort(placed.begin(), placed.end());
  const char* at = data.data();
  for (const Placed& tensor : placed) {
    if (tensor.first.first < at) return BadTensor(tensor.second, "overlaps another");
    if (tensor.first.first > at) return BadTensor(tensor.second, "has a hole before it");
    at = tensor.first.second;
  }
  if (at != data.data() + data.size()) return Bad("there are bytes that belong to no tensor");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StoredTensors> ParseSafetensors(absl::string_view file) {
  uint64_t header_bytes = 0;
  if (file.size() < sizeof(header_bytes)) return Bad("the file is too short for a header");
  std::memcpy(&header_bytes, file.data(), sizeof(header_bytes));
  file.remove_prefix(sizeof(header_bytes));
  if (header_bytes > kMaxHeaderBytes || header_bytes > file.size()) {
    return Bad("the header is longer than the file: it is cut short, or no safetensors file");
  }
  const absl::string_view header_text = file.substr(0, header_bytes);
  const absl::string_view data = file.substr(header_bytes);
  const absl::StatusOr<Json> header = ParseBoundedJson(header_text, kMaxHeaderValues);
  if (!header.ok()) return Bad(absl::StrCat("the header ", header.status().message()));
  if (!header->is_object()) return Bad("the header is no JSON object");
  if (header->size() > kMaxTensorsOfAFile) return Bad("the header names too many tensors");
  StoredTensors tensors;
  for (const auto& item : header->items()) {
    if (item.key() == "__metadata__") continue;
    absl::StatusOr<StoredTensor> view = ReadEntry(item.key(), item.value(), data);
    if (!view.ok()) return view.status();
    tensors.emplace(item.key(), *std::move(view));
  }
  if (absl::Status status = CheckTiling(tensors, data); !status.ok()) return status;
  return tensors;
}

}  // namespace mpsd

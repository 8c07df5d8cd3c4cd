#include "worker/model/encoder/weights/encoder_weights.h"

#include <cstring>
#include <optional>

#include "ATen/ops/empty.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "worker/model/torch/scalar_types.h"
#include "worker/model/torch/shared_weights.h"

namespace mpsd {
namespace {

std::optional<at::ScalarType> TypeOf(absl::string_view dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "BF16") return at::kBFloat16;
  return std::nullopt;
}

// The copy's numbers lie side by side.
at::Tensor CopyOf(const StoredTensor& stored, at::ScalarType type) {
  const auto count = static_cast<int64_t>(stored.bytes.size() / c10::elementSize(type));
  const at::Tensor numbers = at::empty({count}, at::TensorOptions(type));
  std::memcpy(numbers.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
  if (stored.strides.empty()) return numbers.view(stored.shape);
  return numbers.as_strided(stored.shape, stored.strides).contiguous();
}

// Borrows the matrix's bytes.
StoredTensor RowOf(const StoredTensor& matrix, int64_t row, size_t element_bytes) {
  const std::vector<int64_t> strides =
      matrix.strides.empty() ? std::vector<int64_t>{matrix.shape[1], 1} : matrix.strides;
  const auto first = static_cast<size_t>(row * strides[0]);
  const auto count = static_cast<size_t>((matrix.shape[1] - 1) * strides[1] + 1);
  return {matrix.dtype,
          {matrix.shape[1]},
          matrix.bytes.substr(first * element_bytes, count * element_bytes),
          {strides[1]}};
}

}  // namespace

EncoderWeights::EncoderWeights(const StoredTensors& source, absl::string_view prefix,
                               c10::Device device)
    : source_(source), device_(device) {
  for (const auto& entry : source) {
    if (absl::StartsWith(entry.first, prefix)) prefix_ = std::string(prefix);
  }
}

at::Tensor EncoderWeights::Fail(const std::string& name, absl::Span<const int64_t> shape,
                                absl::string_view what) {
  status_.Update(absl::InvalidArgumentError(absl::StrCat("the tensor '", name, "' ", what)));
  // One element stands for all.
  return at::empty({1}).expand(c10::IntArrayRef(shape.data(), shape.size()));
}

at::Tensor EncoderWeights::TakeRow(const std::string& name, const std::vector<int64_t>& shape,
                                   int64_t row, bool whole) {
  return Take(whole ? name : prefix_ + name, shape, row);
}

at::Tensor EncoderWeights::TakeWhole(const std::string& name, const std::vector<int64_t>& shape) {
  return Take(name, shape, std::nullopt);
}

at::Tensor EncoderWeights::Take(const std::string& name, const std::vector<int64_t>& shape,
                                std::optional<int64_t> row) {
  taken_.insert(name);
  const auto found = source_.find(name);
  if (found == source_.end()) return Fail(name, shape, "is missing");
  const StoredTensor& view = found->second;
  if (view.shape != shape) {
    return Fail(name, shape,
                absl::StrCat("has the shape [", absl::StrJoin(view.shape, ","), "], not [",
                             absl::StrJoin(shape, ","), "]"));
  }
  const std::optional<at::ScalarType> type = TypeOf(view.dtype);
  if (!type.has_value()) {
    return Fail(name, shape,
                absl::StrCat("is of the dtype ", view.dtype, ", which is no F32, F16 or BF16"));
  }
  const at::Tensor taken =
      CopyOf(row.has_value() ? RowOf(view, *row, c10::elementSize(*type)) : view, *type)
          .to(device_, type_);
  Keep(taken);
  taken_bytes_ += taken.nbytes();
  taken_dtypes_.emplace(DataTypeName(FromScalarType(type_)));
  saved_dtypes_.emplace(DataTypeName(FromScalarType(*type)));
  return taken;
}

void EncoderWeights::Keep(const at::Tensor& tensor) {
  kept_.push_back(tensor.storage().getWeakStorageImpl());
}

std::vector<c10::Storage> EncoderWeights::Held() const {
  std::vector<c10::Storage> held;
  for (const auto& kept : kept_) {
    const c10::Storage storage(kept.lock());
    if (storage) AddWeight(storage, device_, &held);
  }
  return held;
}

bool EncoderWeights::IsIgnored(absl::string_view name) const {
  for (const std::string& ignored : ignored_) {
    if (absl::EndsWith(ignored, ".") ? absl::StartsWith(name, ignored) : name == ignored)
      return true;
  }
  return false;
}

absl::Status EncoderWeights::Finish() {
  for (const auto& entry : source_) {
    const std::string& name = entry.first;
    if (taken_.count(name) > 0 || IsIgnored(name)) continue;
    status_.Update(absl::InvalidArgumentError(absl::StrCat(
        "the tensor '", name, "' would be lost: it is part of a head or of a layer too many")));
  }
  return status_;
}

void EncoderWeights::CountAs(uint64_t bytes, const std::string& datatype, uint64_t taken_bytes) {
  taken_bytes_ += bytes - taken_bytes;
  taken_dtypes_.insert(datatype);
}

void EncoderWeights::Count(Census* census) const {
  census->parameter_bytes += taken_bytes_;
  census->parameter_dtypes.assign(taken_dtypes_.begin(), taken_dtypes_.end());
  census->saved_dtypes.assign(saved_dtypes_.begin(), saved_dtypes_.end());
}

}  // namespace mpsd

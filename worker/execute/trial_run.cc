#include "worker/execute/trial_run.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "worker/model/elements.h"
#include "worker/model/trial_dims.h"

namespace mpsd {
namespace {

constexpr uint32_t kFewRows = 4;
constexpr int64_t kOpenLength = 2;

// The bits of a float from 1 to 2, with a random sign for kSigned.
uint64_t FloatBits(DataType datatype, TrialFill fill, uint32_t noise) {
  const uint64_t sign = fill == TrialFill::kSigned ? noise >> 31 : 0;
  switch (datatype) {
    case DataType::kFp64:
      return sign << 63 | 0x3FF0000000000000ULL | noise;
    case DataType::kFp32:
      return sign << 31 | 0x3F800000U | (noise & 0x7FFFFF);
    case DataType::kFp16:
      return sign << 15 | 0x3C00U | (noise & 0x3FF);
    default:
      return sign << 15 | 0x3F80U | (noise & 0x7F);
  }
}

void Fill(DataType datatype, TrialFill fill, std::pair<int64_t, int64_t> range,
          std::mt19937* random, std::string* bytes) {
  const size_t size = ElementBytes(datatype);
  const auto numbers = static_cast<uint64_t>(range.second - range.first + 1);
  for (size_t at = 0; size > 0 && at + size <= bytes->size(); at += size) {
    const uint32_t noise = (*random)();
    const uint64_t bits = IsFloat(datatype) ? FloatBits(datatype, fill, noise)
                                            : static_cast<uint64_t>(range.first) + noise % numbers;
    std::memcpy(bytes->data() + at, &bits, size);
  }
}

// The bytes of one row of the largest input.
uint64_t RowBytes(const ModelSpec& spec, size_t step) {
  uint64_t most = 1;
  for (const TensorSpec& tensor : spec.inputs) {
    const DataType counted =
        tensor.datatype == DataType::kBytes ? DataType::kUint32 : tensor.datatype;
    const Dims dims = TrialDims(spec, tensor, /*rows=*/1, step, kOpenLength);
    most = std::max(most, TensorBytes(counted, dims).value_or(kTrialInputBytes));
  }
  return most;
}

}  // namespace

std::vector<TrialShape> TrialShapes(const ModelSpec& spec) {
  const uint32_t rows_max = spec.batches() ? spec.max_batch_size : 1;
  const TrialShape small{std::min(rows_max, kFewRows), 0};
  const size_t last = BucketSteps(spec) - 1;
  const uint64_t fitting = kTrialInputBytes / RowBytes(spec, last);
  const TrialShape large{static_cast<uint32_t>(std::clamp<uint64_t>(fitting, small.rows, rows_max)),
                         last};
  if (large == small) return {small};
  return {small, large};
}

TrialInputs::TrialInputs(const Model& model, TrialShape shape, TrialFill fill, uint32_t seed)
    : rows_(shape.rows) {
  std::mt19937 random(seed);
  const ModelSpec& spec = model.spec();
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const TensorSpec& tensor = spec.inputs[i];
    InputTensor& input = tensors_.emplace_back();
    input.datatype = tensor.datatype;
    input.dims = TrialDims(spec, tensor, rows_, shape.step, kOpenLength);
    // Elements of BYTES are empty strings: a length of 0 each.
    const DataType filled =
        tensor.datatype == DataType::kBytes ? DataType::kUint32 : tensor.datatype;
    auto memory = std::make_unique<std::string>(TensorBytes(filled, input.dims).value_or(0), '\0');
    if (filled == tensor.datatype)
      Fill(filled, fill, model.traits().trial_range(i), &random, memory.get());
    input.bytes = memory->size();
    input.data = memory->data();
    memory_.push_back(std::move(memory));
  }
}

void* KeptOutputs::Add(DataType datatype, absl::Span<const int64_t> dims) {
  return Keep(datatype, TensorBytes(datatype, dims).value_or(0));
}

void* KeptOutputs::AddBytes(absl::Span<const int64_t> /*dims*/, uint64_t bytes) {
  return Keep(DataType::kBytes, bytes);
}

void KeptOutputs::FailRow(uint32_t row, absl::string_view /*why*/) { failed_rows_.insert(row); }

void* KeptOutputs::Keep(DataType datatype, uint64_t bytes) {
  outputs_.push_back(std::make_unique<KeptOutput>());
  outputs_.back()->datatype = datatype;
  outputs_.back()->bytes.resize(bytes);
  return outputs_.back()->bytes.data();
}

}  // namespace mpsd

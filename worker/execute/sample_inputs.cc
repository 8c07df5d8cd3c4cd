#include "worker/execute/sample_inputs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

constexpr size_t kMaxRandomLetters = 8;
constexpr uint64_t kMaxInputBytes = 1ULL << 30;  // if all elements were of the largest datatype

using Random = std::mt19937_64;

absl::Status BadInput(const std::string& name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the sample's input '", name, "' ", what));
}

const WarmUpInput* FindInput(const WarmUpSample& sample, const std::string& name) {
  for (const WarmUpInput& input : sample.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

bool Fits(const TensorSpec& tensor, const Dims& dims) {
  if (tensor.dims.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (tensor.dims[i] >= 0 && tensor.dims[i] != dims[i]) return false;
  }
  return true;
}

// How many BYTES elements `data` has; nothing if `data` is malformed.
std::optional<uint64_t> CountElements(absl::string_view data) {
  uint64_t count = 0;
  for (; !data.empty(); ++count) {
    uint32_t length = 0;
    if (data.size() < sizeof(length)) return std::nullopt;
    std::memcpy(&length, data.data(), sizeof(length));
    data.remove_prefix(sizeof(length));
    if (data.size() < length) return std::nullopt;
    data.remove_prefix(length);
  }
  return count;
}

void AppendString(Random* random, std::string* data) {
  const auto length = static_cast<uint32_t>(1 + (*random)() % kMaxRandomLetters);
  data->append(reinterpret_cast<const char*>(&length), sizeof(length));
  for (uint32_t i = 0; i < length; ++i) data->push_back(static_cast<char>('a' + (*random)() % 26));
}

// Appends a float from 0 to 1 by its bits, or an integer 0 or 1, which may be an index.
void AppendNumber(DataType datatype, Random* random, std::string* data) {
  const uint64_t bits = (*random)();
  uint64_t value = bits & 1;
  if (datatype == DataType::kFp16) value = 0x3800 | (bits & 0x03ff);
  if (datatype == DataType::kBf16) value = 0x3f00 | (bits & 0x007f);
  if (datatype == DataType::kFp32) value = 0x3f000000 | (bits & 0x007fffff);
  if (datatype == DataType::kFp64) value = 0x3fe0000000000000 | (bits & 0x000fffffffffffff);
  data->append(reinterpret_cast<const char*>(&value), ElementBytes(datatype));
}

std::string Filled(const WarmUpInput& input, uint64_t elements) {
  Random random;
  const bool strings = input.datatype == DataType::kBytes;
  std::string data;
  for (uint64_t i = 0; i < elements; ++i) {
    if (input.fill == WarmUpFill::kZero) {
      data.append(strings ? sizeof(uint32_t) : ElementBytes(input.datatype), '\0');
    } else if (strings) {
      AppendString(&random, &data);
    } else {
      AppendNumber(input.datatype, &random, &data);
    }
  }
  return data;
}

absl::StatusOr<std::string> RowOf(const WarmUpInput& input, uint64_t elements) {
  if (input.fill != WarmUpFill::kData) return Filled(input, elements);
  const bool strings = input.datatype == DataType::kBytes;
  const bool fits = strings ? CountElements(input.data) == elements
                            : input.data.size() == elements * ElementBytes(input.datatype);
  if (!fits) return BadInput(input.name, "has another number of bytes than its dims and datatype");
  return input.data;
}

}  // namespace

char* Zeros::Get(uint64_t bytes) {
  const uint64_t rounded = (bytes + kTensorAlignment) / kTensorAlignment * kTensorAlignment;
  memory_.emplace_back(static_cast<char*>(std::aligned_alloc(kTensorAlignment, rounded)));
  std::fill_n(memory_.back().get(), rounded, '\0');
  return memory_.back().get();
}

void Zeros::Free::operator()(char* memory) const { std::free(memory); }

absl::StatusOr<SampleInputs> MakeSampleInputs(const ModelSpec& spec, const WarmUpSample& sample) {
  const uint32_t rows_max = std::max(spec.max_batch_size, 1U);
  if (sample.rows > rows_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("the sample has ", sample.rows, " rows; at most ", rows_max, " are allowed"));
  }
  SampleInputs made;
  for (const TensorSpec& tensor : spec.inputs) {
    const WarmUpInput* const input = FindInput(sample, tensor.name);
    if (input == nullptr) return BadInput(tensor.name, "is missing");
    if (input->datatype != tensor.datatype || !Fits(tensor, input->dims)) {
      return BadInput(tensor.name, "has another datatype or other dims than the model's");
    }
    Dims dims = input->dims;
    if (spec.batches()) dims.insert(dims.begin(), sample.rows);
    const std::optional<uint64_t> elements = ElementCount(input->dims);
    const std::optional<uint64_t> most_bytes = TensorBytes(DataType::kFp64, dims);
    if (!elements.has_value() || !most_bytes.has_value() || *most_bytes > kMaxInputBytes) {
      return BadInput(tensor.name, "is too large");
    }
    const absl::StatusOr<std::string> row = RowOf(*input, *elements);
    if (!row.ok()) return row.status();
    char* const memory = made.memory.Get(row->size() * sample.rows);
    for (uint32_t i = 0; i < sample.rows; ++i) {
      std::memcpy(memory + i * row->size(), row->data(), row->size());
    }
    made.tensors.push_back({memory, row->size() * sample.rows, tensor.datatype, std::move(dims)});
  }
  return made;
}

}  // namespace mpsd

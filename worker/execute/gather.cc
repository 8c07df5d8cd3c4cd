#include "worker/execute/gather.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {

void Gather::Free::operator()(char* memory) const { std::free(memory); }

absl::Span<const InputTensor> Gather::Inputs(const Batch& batch) {
  tensors_.resize(batch.inputs.size());
  staging_.resize(std::max(staging_.size(), batch.inputs.size()));
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    const BatchInput& input = batch.inputs[i];
    InputTensor& tensor = tensors_[i];
    tensor.datatype = input.datatype;
    tensor.bytes = 0;
    for (const BatchRun& run : batch.runs) tensor.bytes += run.input_bytes[i];
    tensor.dims.clear();
    if (batch.has_batch_dim) tensor.dims.push_back(batch.row_count);
    tensor.dims.insert(tensor.dims.end(), input.dims.begin(), input.dims.end());
    tensor.data =
        batch.runs.size() == 1 ? batch.runs[0].inputs[i] : Contiguous(batch, i, tensor.bytes);
  }
  return tensors_;
}

const void* Gather::Contiguous(const Batch& batch, size_t input, uint64_t bytes) {
  const uint64_t wanted = std::max<uint64_t>(bytes, 1);  // even zero bytes need an address
  Staging& staging = staging_[input];
  if (staging.bytes < wanted) {
    const uint64_t rounded = (wanted + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    staging.memory.reset(static_cast<char*>(std::aligned_alloc(kTensorAlignment, rounded)));
    MPSD_CHECK(staging.memory != nullptr);
    staging.bytes = rounded;
  }
  char* target = staging.memory.get();
  for (const BatchRun& run : batch.runs) {
    std::memcpy(target, run.inputs[input], run.input_bytes[input]);
    target += run.input_bytes[input];
  }
  return staging.memory.get();
}

}  // namespace mpsd

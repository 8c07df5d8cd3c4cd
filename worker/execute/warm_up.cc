#include "worker/execute/warm_up.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "proto/base/limits.h"
#include "worker/model/trial_dims.h"

namespace mpsd {
namespace {

// Owns memory of zeros, aligned as slabs are.
class Zeros {
 public:
  char* Get(uint64_t bytes) {
    const uint64_t rounded = (bytes + kTensorAlignment) / kTensorAlignment * kTensorAlignment;
    memory_.emplace_back(static_cast<char*>(std::aligned_alloc(kTensorAlignment, rounded)));
    std::fill_n(memory_.back().get(), rounded, '\0');
    return memory_.back().get();
  }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<char, Free>> memory_;
};

// Gives each output of a warm-up run memory of its own, and drops it.
class Scratch final : public OutputSink {
 public:
  void* Add(DataType datatype, absl::Span<const int64_t> dims) override {
    const std::optional<uint64_t> bytes = TensorBytes(datatype, dims);
    return bytes.has_value() ? memory_.Get(*bytes) : nullptr;
  }
  void* AddBytes(absl::Span<const int64_t>, uint64_t bytes) override { return memory_.Get(bytes); }
  void FailRow(uint32_t, absl::string_view) override {}

 private:
  Zeros memory_;
};

absl::Status RunZeros(Model* model, uint32_t lane, uint32_t rows, size_t step) {
  const ModelSpec& spec = model->spec();
  Zeros zeros;
  std::vector<InputTensor> inputs;
  for (const TensorSpec& tensor : spec.inputs) {
    InputTensor& input = inputs.emplace_back();
    input.datatype = tensor.datatype;
    input.dims = TrialDims(spec, tensor, rows, step, /*open_length=*/1);
    // Zeros are also a valid BYTES tensor: elements of length 0.
    const DataType counted =
        input.datatype == DataType::kBytes ? DataType::kUint32 : input.datatype;
    const std::optional<uint64_t> bytes = TensorBytes(counted, input.dims);
    if (!bytes.has_value()) return absl::InvalidArgumentError("a shape too large to warm up");
    input.bytes = *bytes;
    input.data = zeros.Get(*bytes);
  }
  Scratch scratch;
  if (spec.decoupled) return model->Answer(lane, inputs, /*index=*/0, &scratch).status();
  return model->Run(lane, inputs, rows, &scratch);
}

size_t BucketSteps(const ModelSpec& spec) {
  size_t steps = 1;
  for (const PadRule& rule : spec.pad) steps = std::max(steps, rule.buckets.size());
  return steps;
}

}  // namespace

absl::Status WarmUpLane(Model* model, uint32_t lane, WarmUp warmup) {
  if (warmup == WarmUp::kNone) return absl::OkStatus();
  const bool all = warmup == WarmUp::kAll || (warmup == WarmUp::kAuto && model->device() != "cpu");
  const ModelSpec& spec = model->spec();
  std::set<uint32_t> batches = {1};
  if (all && spec.batches()) batches.insert(spec.max_batch_size);
  const size_t steps = all ? BucketSteps(spec) : 1;
  for (size_t step = 0; step < steps; ++step) {
    for (const uint32_t rows : batches) {
      if (absl::Status status = RunZeros(model, lane, rows, step); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace mpsd

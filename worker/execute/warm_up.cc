#include "worker/execute/warm_up.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "proto/base/limits.h"
#include "worker/execute/row_buckets.h"
#include "worker/execute/sample_inputs.h"
#include "worker/model/trial_dims.h"

namespace mpsd {
namespace {

// Gives each output of a warm-up run its own memory, then drops it.
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

absl::Status RunOnce(Model* model, uint32_t lane, absl::Span<const InputTensor> inputs,
                     uint32_t rows) {
  Scratch scratch;
  DecoupledAnswers* const answers = model->answers();
  if (answers != nullptr) return answers->Answer(lane, inputs, /*index=*/0, &scratch).status();
  return RowBuckets(lane, model).Run(inputs, rows, &scratch);
}

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
  return RunOnce(model, lane, inputs, rows);
}

absl::Status RunSample(Model* model, uint32_t lane, const WarmUpSample& sample, uint32_t runs) {
  const absl::StatusOr<SampleInputs> inputs = MakeSampleInputs(model->spec(), sample);
  if (!inputs.ok()) return inputs.status();
  absl::Status status;
  for (uint32_t run = 0; run < runs && status.ok(); ++run) {
    status = RunOnce(model, lane, inputs->tensors, sample.rows);
  }
  return status;
}

}  // namespace

WarmUpEnd WarmUpLane(Model* model, uint32_t lane, WarmUp warmup,
                     absl::Span<const WarmUpSample> samples) {
  WarmUpEnd end;
  if (warmup == WarmUp::kNone) return end;
  const auto note = [&end](const absl::Status& ran) {
    end.status = ran;
    end.has_run = end.has_run || ran.ok();
    return ran.ok();
  };
  for (const WarmUpSample& sample : samples) {
    if (!note(RunSample(model, lane, sample, sample.runs))) return end;
  }
  if (!samples.empty()) return end;
  const bool all =
      warmup == WarmUp::kAll || (warmup == WarmUp::kAuto && model->traits().device != "cpu");
  const ModelSpec& spec = model->spec();
  const std::vector<uint32_t> batches = all ? RowCountsOf(*model) : std::vector<uint32_t>{1};
  const size_t steps = all ? BucketSteps(spec) : 1;
  for (size_t step = 0; step < steps; ++step) {
    for (const uint32_t rows : batches) {
      if (!note(RunZeros(model, lane, rows, step))) return end;
    }
  }
  return end;
}

absl::Status RunToKeepWarm(Model* model, uint32_t lane, absl::Span<const WarmUpSample> samples) {
  if (samples.empty()) return RunZeros(model, lane, /*rows=*/1, /*step=*/0);
  return RunSample(model, lane, samples.front(), /*runs=*/1);
}

bool CanServeAfter(const WarmUpEnd& end) {
  return absl::IsInternal(end.status) || absl::IsInvalidArgument(end.status) ||
         (absl::IsResourceExhausted(end.status) && end.has_run);
}

}  // namespace mpsd

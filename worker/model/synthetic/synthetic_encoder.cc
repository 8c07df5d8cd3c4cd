#include "worker/model/synthetic/synthetic_encoder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/model/foreign_errors.h"

namespace mpsd {
namespace {

constexpr int64_t kUsualWidth = 8;

absl::StatusOr<ModelSpec> EncoderSpecOf(ModelSpec spec) {
  const auto is_row = [](const TensorSpec& input) {
    return input.datatype == DataType::kInt64 && input.dims == Dims{-1};
  };
  const std::vector<TensorSpec>& inputs = spec.inputs;
  const bool has_inputs = inputs.size() >= 2 && inputs.size() <= 3 &&
                          std::all_of(inputs.begin(), inputs.end(), is_row) &&
                          inputs[0].name == "input_ids" && inputs[1].name == "attention_mask";
  if (!spec.batches() || !has_inputs || inputs[0].optional || inputs[1].optional) {
    return absl::InvalidArgumentError(
        "a model that encodes batches, and has input_ids:INT64[-1], attention_mask:INT64[-1] and "
        "maybe token_type_ids:INT64[-1]");
  }
  if (spec.outputs.empty()) {
    spec.outputs = {{"sentence_embedding", DataType::kFp32, {kUsualWidth}}};
  }
  for (const TensorSpec& output : spec.outputs) {
    const bool is_fixed = output.dims.size() == 1 && output.dims[0] > 0;
    if (output.datatype == DataType::kFp32 && is_fixed) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("output ", TensorText(output), " must be a row of FP32 of a fixed length"));
  }
  return spec;
}

float NumberOf(const int64_t* ids, const int64_t* mask, int64_t length, int64_t place) {
  int64_t sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    if (mask[i] != 0) sum += (ids[i] * (place + 3)) % 17 - 8;
  }
  return static_cast<float>(sum);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> SyntheticEncoder::Load(const LoadOrder& order,
                                                              SyntheticEffects effects) {
  const absl::StatusOr<SyntheticOptions> options = SyntheticOptions::Parse(order.parameters);
  if (!options.ok()) return InSynthetic(order, options.status());
  absl::StatusOr<ModelSpec> spec = EncoderSpecOf(order.spec);
  if (!spec.ok()) return InSynthetic(order, spec.status());
  if (options->load_delay_ns > 0) effects.sleep(options->load_delay_ns);
  return std::unique_ptr<Model>(
      new SyntheticEncoder(*std::move(spec), *options, std::move(effects)));
}

SyntheticEncoder::SyntheticEncoder(ModelSpec spec, const SyntheticOptions& options,
                                   SyntheticEffects effects)
    : Model(std::move(spec)), options_(options), effects_(std::move(effects)) {}

absl::Status SyntheticEncoder::Run(uint32_t lane, absl::Span<const InputTensor> inputs,
                                   uint32_t row_count, OutputSink* sink) {
  const int64_t length = inputs[0].dims[1];
  if (inputs[1].dims[1] != length) {
    return ExecuteFailure("input_ids and attention_mask differ in length");
  }
  const int64_t delay_ns = options_.DelayNs(lane, row_count);
  if (delay_ns > 0) effects_.sleep(delay_ns);
  const auto* const ids = static_cast<const int64_t*>(inputs[0].data);
  const auto* const mask = static_cast<const int64_t*>(inputs[1].data);
  for (const TensorSpec& output : spec().outputs) {
    const int64_t width = output.dims[0];
    auto* const numbers =
        static_cast<float*>(sink->Add(DataType::kFp32, {static_cast<int64_t>(row_count), width}));
    if (numbers == nullptr) continue;
    for (int64_t row = 0; row < row_count; ++row) {
      for (int64_t place = 0; place < width; ++place) {
        numbers[row * width + place] =
            NumberOf(ids + row * length, mask + row * length, length, place);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace mpsd

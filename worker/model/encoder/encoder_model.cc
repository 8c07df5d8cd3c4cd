#include "worker/model/encoder/encoder_model.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/model/encoder/encoder_folder.h"
#include "worker/model/encoder/encoder_parts.h"
#include "worker/model/encoder/token_batch.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/torch_device.h"
#include "worker/model/torch/torch_model.h"
#include "worker/model/torch/torch_precision.h"

namespace mpsd {
namespace {

// Runs an Encoder and its head. Owned by the worker's main. Thread-safe after loading: it keeps
// nothing between runs.
class EncoderModel final : public TorchModel {
 public:
  EncoderModel(ModelSpec spec, EncoderFolder folder, EncoderParts parts,
               std::unique_ptr<TorchRuntime> runtime)
      : TorchModel(std::move(spec), parts.census, std::move(runtime)),
        folder_(std::move(folder)),
        parts_(std::move(parts)) {}

  // Without an order of its own the weights become float.
  Precision precision() const override {
    const Precision told = TorchModel::precision();
    return told == Precision::kAsSaved ? Precision::kFp32 : told;
  }
  std::pair<int64_t, int64_t> trial_range(size_t input) const override;
  std::vector<ModelFact> facts() const override { return FactsOf(folder_, spec()); }
  std::vector<std::string> labels() const override { return folder_.config.labels; }

 private:
  absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                       OutputSink* sink) const override;

  const EncoderFolder folder_;
  const EncoderParts parts_;
};

TokenInputs InputsOf(absl::Span<const InputTensor> inputs) {
  const auto numbers = [](const InputTensor& input) {
    return static_cast<const int64_t*>(input.data);
  };
  TokenInputs tokens;
  tokens.rows = inputs[0].dims[0];
  tokens.length = inputs[0].dims[1];
  tokens.ids = numbers(inputs[0]);
  tokens.mask = numbers(inputs[1]);
  if (inputs.size() > 2 && !inputs[2].is_left_out()) tokens.types = numbers(inputs[2]);
  return tokens;
}

// Token ids, a mask without holes, which some families refuse, and token types.
std::pair<int64_t, int64_t> EncoderModel::trial_range(size_t input) const {
  if (input == 0) return {0, folder_.config.vocabulary_size - 1};
  if (input == 1) return {1, 1};
  return {0, std::max<int64_t>(folder_.config.token_type_count, 1) - 1};
}

absl::Status EncoderModel::Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                   OutputSink* sink) const {
  for (const InputTensor& input : inputs) {
    if (input.is_left_out() || input.dims == inputs[0].dims) continue;
    return absl::InvalidArgumentError(
        "input_ids, attention_mask and token_type_ids differ in length");
  }
  if (inputs[0].dims[1] == 0) return absl::InvalidArgumentError("a row without tokens");
  const TokenLayout layout =
      runtime().device().is_cpu() ? TokenLayout::kPacked : TokenLayout::kPadded;
  const TokenBatch batch = PackTokens(folder_.config, InputsOf(inputs), layout);
  for (const auto& [row, why] : batch.failed_rows) sink->FailRow(row, why);
  // What stands above the tokens costs little, and computes in float.
  const at::Tensor tokens = parts_.encoder->Run(batch).to(at::kFloat);
  const std::vector<at::Tensor> outputs = parts_.head->Run(tokens, batch);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const absl::Status status = Emit(outputs[i], spec().outputs[i], row_count, sink);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckFolder(const LoadOrder& order) {
  std::error_code error;
  if (std::filesystem::is_directory(order.path, error)) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("model '", order.model, "': there is no folder '", order.path, "'"));
}

absl::Status MakeModel(const LoadOrder& order, std::unique_ptr<TorchRuntime> runtime,
                       std::unique_ptr<Model>* model) {
  absl::StatusOr<EncoderFolder> folder = ReadEncoderFolder(order.path);
  if (!folder.ok()) return folder.status();
  absl::StatusOr<ModelSpec> spec = EncoderSpec(order, *folder);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<EncoderParts> parts = LoadEncoderParts(
      order.path, *folder, ConvertedType(order.precision).value_or(at::kFloat), runtime->device());
  if (!parts.ok()) return parts.status();
  SynchronizeDevice(runtime->device());
  *model = std::make_unique<EncoderModel>(*std::move(spec), *std::move(folder), *std::move(parts),
                                          std::move(runtime));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> LoadEncoder(const LoadOrder& order) {
  if (absl::Status status = CheckFolder(order); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<TorchRuntime>> runtime = TorchRuntime::Create(order);
  if (!runtime.ok()) return runtime.status();
  std::unique_ptr<Model> model;
  const absl::Status status = CatchForeign(
      [&] {
        const absl::Status made = MakeModel(order, *std::move(runtime), &model);
        return made.ok() ? made : InModel(order, made);
      },
      [&](absl::string_view what) { return CannotLoad(order, MeaningfulLine(what)); });
  if (!status.ok()) return status;
  return model;
}

}  // namespace mpsd

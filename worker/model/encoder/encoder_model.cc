#include "worker/model/encoder/encoder_model.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "ATen/ops/from_blob.h"
#include "ATen/ops/zeros.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "c10/core/InferenceMode.h"
#include "worker/model/encoder/batch/batch_numbers.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/batch/token_batch.h"
#include "worker/model/encoder/encoder_folder.h"
#include "worker/model/encoder/encoder_parts.h"
#include "worker/model/encoder/ragged_attention.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/products/panels.h"
#include "worker/model/products/products.h"
#include "worker/model/run_recorder.h"
#include "worker/model/torch/torch_device.h"
#include "worker/model/torch/torch_model.h"
#include "worker/model/torch/torch_precision.h"

namespace mpsd {
namespace {

// The usual length of a text.
constexpr int64_t kUsualTokens = 64;
// With more tokens a plain run hides its launches.
constexpr int64_t kMostRecordedTokens = 8192;

// Owned by the worker's main. Thread-safe: keeps nothing between runs.
class EncoderModel final : public TorchModel {
 public:
  EncoderModel(const ModelSpec& spec, EncoderFolder folder, TokenLayout layout, EncoderParts parts,
               std::unique_ptr<TorchRuntime> runtime);

 private:
  absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                       OutputSink* sink) const override;

  // A record has room for a number of tokens, in rows of any lengths: it reads the numbers that
  // NumbersOf() wrote.
  bool can_compute() const override {
    return layout_ == TokenLayout::kPacked && runtime().device().is_cuda();
  }
  absl::StatusOr<std::vector<at::Tensor>> Compute(absl::Span<const at::Tensor> inputs,
                                                  uint32_t rows) const override;
  std::vector<TrialShape> Shapes() const override;
  RecordPlace PlaceOf(absl::Span<const InputTensor> inputs, uint32_t row_count) const override;
  absl::StatusOr<RecordedBatch> BeginRecord(absl::Span<const InputTensor> inputs,
                                            uint32_t row_count) const override;
  absl::StatusOr<bool> FillRecord(absl::Span<const InputTensor> inputs,
                                  const RecordedBatch& record) const override;

  std::vector<at::Tensor> OutputsOf(const DeviceBatch& batch) const;
  int64_t longest() const;  // tokens in a row that a record answers

  const EncoderFolder folder_;
  const TokenLayout layout_;
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

absl::Status CheckLengths(absl::Span<const InputTensor> inputs) {
  for (const InputTensor& input : inputs) {
    if (input.is_left_out() || input.dims == inputs[0].dims) continue;
    return absl::InvalidArgumentError(
        "input_ids, attention_mask and token_type_ids differ in length");
  }
  if (inputs[0].dims[1] == 0) return absl::InvalidArgumentError("a row without tokens");
  return absl::OkStatus();
}

EncoderModel::EncoderModel(const ModelSpec& spec, EncoderFolder folder, TokenLayout layout,
                           EncoderParts parts, std::unique_ptr<TorchRuntime> runtime)
    : TorchModel(spec, parts.census, std::move(runtime)),
      folder_(std::move(folder)),
      layout_(layout),
      parts_(std::move(parts)) {
  OfferWeights(parts_.weights);
  ModelTraits& traits = loading_traits();
  traits.facts = FactsOf(folder_, spec);
  traits.labels = folder_.config.labels;
  // If the order names no precision, the weights become float.
  if (traits.precision == Precision::kAsSaved) traits.precision = Precision::kFp32;
  // Token ids, a mask without holes, which some families refuse, and token types.
  traits.trial_ranges = {{0, folder_.config.vocabulary_size - 1},
                         {1, 1},
                         {0, std::max<int64_t>(folder_.config.token_type_count, 1) - 1}};
  // On cpu its lanes share the weights alone, and libtorch's operators there bear any threads. The
  // comparison would take seconds of each start.
  if (traits.device == "cpu") traits.wants_self_check = false;
  traits.leaves_padding_out = layout_ == TokenLayout::kPacked;
}

absl::Status EncoderModel::Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                   OutputSink* sink) const {
  if (absl::Status status = CheckLengths(inputs); !status.ok()) return status;
  const TokenBatch batch = PackTokens(folder_.config, InputsOf(inputs), layout_);
  for (const auto& [row, why] : batch.failed_rows) sink->FailRow(row, why);
  const std::vector<at::Tensor> outputs = OutputsOf(DeviceBatch(batch, runtime().device()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const absl::Status status = Emit(outputs[i], spec().outputs[i], row_count, sink);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<at::Tensor> EncoderModel::OutputsOf(const DeviceBatch& batch) const {
  return parts_.head->Run(parts_.encoder->Run(batch).to(at::kFloat), batch);
}

int64_t EncoderModel::longest() const {
  return std::min(folder_.config.max_tokens(), spec().pad.front().buckets.back());
}

// Up to kUsualTokens tokens in one row, then more rows of that length; beyond the largest batch,
// longer rows.
std::vector<TrialShape> EncoderModel::Shapes() const {
  const std::vector<int64_t>& lengths = spec().pad.front().buckets;
  size_t usual = 0;
  while (usual + 1 < lengths.size() && lengths[usual + 1] <= kUsualTokens) ++usual;
  const int64_t fitting = std::max<int64_t>(1, kMostRecordedTokens / lengths[usual]);
  const auto most_rows = static_cast<uint32_t>(std::min<int64_t>(fitting, spec().max_batch_size));
  std::vector<TrialShape> shapes;
  for (size_t step = lengths.size(); --step > usual;) {
    if (most_rows * lengths[step] <= kMostRecordedTokens) shapes.push_back({most_rows, step});
  }
  const std::vector<uint32_t> rows = RecordedRows(most_rows);
  for (size_t i = rows.size(); i-- > 0;) shapes.push_back({rows[i], usual});
  for (size_t step = usual; step-- > 0;) shapes.push_back({1, step});
  return shapes;
}

absl::StatusOr<std::vector<at::Tensor>> EncoderModel::Compute(absl::Span<const at::Tensor> inputs,
                                                              uint32_t rows) const {
  return OutputsOf(DeviceBatch(inputs[0], rows, longest()));
}

// Any record with room for the tokens answers, whatever the rows' lengths.
RecordPlace EncoderModel::PlaceOf(absl::Span<const InputTensor> inputs, uint32_t) const {
  if (!CheckLengths(inputs).ok()) return {};
  const TokenInputs tokens = InputsOf(inputs);
  const int64_t* const end = tokens.mask + tokens.rows * tokens.length;
  RecordPlace place;
  place.size = static_cast<uint32_t>(
      std::count_if(tokens.mask, end, [](int64_t counts) { return counts != 0; }));
  return place;
}

// Each row has at least one token, so a record needs no more rows than tokens.
absl::StatusOr<RecordedBatch> EncoderModel::BeginRecord(absl::Span<const InputTensor> inputs,
                                                        uint32_t row_count) const {
  const RecordPlace place = PlaceOf(inputs, row_count);
  RecordedBatch record;
  record.rows = std::min(place.size, spec().max_batch_size);
  const BatchRoom room{place.size, record.rows};
  record.inputs.push_back(
      at::zeros({room.size()}, at::TensorOptions(at::kLong).device(runtime().device())));
  return record;
}

// Forward() takes failing rows, and rows without a counting token.
absl::StatusOr<bool> EncoderModel::FillRecord(absl::Span<const InputTensor> inputs,
                                              const RecordedBatch& record) const {
  const TokenBatch batch = PackTokens(folder_.config, InputsOf(inputs), layout_);
  const BatchRoom room = BatchRoom::Of(record.inputs[0].size(0), record.rows);
  const bool has_empty = std::any_of(batch.rows.begin(), batch.rows.end(),
                                     [](const TokenRow& row) { return row.is_empty; });
  const bool is_too_long = batch.runs.back().length > longest();
  if (has_empty || is_too_long || !room.Holds(batch)) return false;
  std::vector<int64_t> numbers = NumbersOf(batch, room);
  record.inputs[0].copy_(at::from_blob(numbers.data(), {room.size()}, at::kLong));
  return true;
}

absl::Status CheckFolder(const LoadOrder& order) {
  std::error_code error;
  if (order.handed != nullptr || std::filesystem::is_directory(order.path, error))
    return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("model '", order.model, "': there is no folder '", order.path, "'"));
}

// Packed if the device can, which a trial tells: some kernels need a newer device.
TokenLayout LayoutOf(const EncoderConfig& config, const Encoder& encoder, c10::Device device,
                     at::ScalarType type) {
  if (device.is_cpu()) return TokenLayout::kPacked;
  if (!RaggedAttention::Serves(config, device, type)) return TokenLayout::kPadded;
  const int64_t number = 1;
  const TokenBatch batch =
      PackTokens(config, {1, 1, &number, &number, nullptr}, TokenLayout::kPacked);
  const absl::Status tried = CatchForeign([&] {
    const c10::InferenceMode inference_mode;
    encoder.Run(DeviceBatch(batch, device));
    return absl::OkStatus();
  });
  return tried.ok() ? TokenLayout::kPacked : TokenLayout::kPadded;
}

absl::StatusOr<Products> ProductsOf(Precision precision, at::ScalarType type,
                                    const TorchRuntime& runtime) {
  if (precision == Precision::kInt8) {
    if (HasPanelProducts()) return Products::kInt8Panels;
    return absl::FailedPreconditionError(
        "precision 'int8' needs a cpu of x86-64 with AVX2 and FMA; 'fp32' is finer");
  }
  const bool are_panels = type == at::kFloat && runtime.uses_float_panels();
  return are_panels ? Products::kFloatPanels : Products::kTorch;
}

absl::Status MakeModel(const LoadOrder& order, std::unique_ptr<TorchRuntime> runtime,
                       std::unique_ptr<Model>* model) {
  const ModelFolder source(order.path, order.handed);
  absl::StatusOr<EncoderFolder> folder = ReadFolderAndWeights(source, order.spec.task);
  if (!folder.ok()) return folder.status();
  absl::StatusOr<ModelSpec> spec = EncoderSpec(order, *folder);
  if (!spec.ok()) return spec.status();
  const at::ScalarType type = ConvertedType(order.precision).value_or(at::kFloat);
  const absl::StatusOr<Products> products = ProductsOf(order.precision, type, *runtime);
  if (!products.ok()) return products.status();
  absl::StatusOr<EncoderParts> parts =
      LoadEncoderParts(source, *folder, type, *products, runtime->device());
  if (!parts.ok()) return parts.status();
  const TokenLayout layout = LayoutOf(folder->config, *parts->encoder, runtime->device(), type);
  SynchronizeDevice(runtime->device());
  *model = std::make_unique<EncoderModel>(*spec, *std::move(folder), layout, *std::move(parts),
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

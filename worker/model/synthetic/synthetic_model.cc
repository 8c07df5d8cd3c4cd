#include "worker/model/synthetic/synthetic_model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "worker/model/elements.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/sharing/host_memory.h"

namespace mpsd {
namespace {

std::string OutputName(const std::string& name, size_t index) {
  if (absl::StrContains(name, "INPUT")) return absl::StrReplaceAll(name, {{"INPUT", "OUTPUT"}});
  return absl::StrCat("OUTPUT", index);
}

absl::Status CheckMirrored(const ModelSpec& spec) {
  if (spec.outputs.size() != spec.inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat("it has ", spec.inputs.size(),
                                                   " inputs and so as many outputs, not ",
                                                   spec.outputs.size()));
  }
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const TensorSpec& input = spec.inputs[i];
    const TensorSpec& output = spec.outputs[i];
    if (input.datatype != output.datatype || input.dims != output.dims) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", TensorText(output), " must mirror input ", TensorText(input)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelSpec> MirroringSpec(ModelSpec spec) {
  if (spec.inputs.empty()) {
    return absl::InvalidArgumentError(
        "it does not tell its inputs; say them, for example --input INPUT0:FP32[-1,16]");
  }
  if (spec.outputs.empty()) {
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      spec.outputs.push_back(spec.inputs[i]);
      spec.outputs.back().name = OutputName(spec.inputs[i].name, i);
      spec.outputs.back().optional = false;
    }
  }
  if (absl::Status status = CheckMirrored(spec); !status.ok()) return status;
  return spec;
}

// Zeros, with length 0 for each open dim, are also valid BYTES: elements of length 0.
void PutZeros(const TensorSpec& output, bool batches, uint32_t row_count, OutputSink* sink) {
  Dims dims = output.dims;
  std::replace(dims.begin(), dims.end(), int64_t{-1}, int64_t{0});
  if (batches) dims.insert(dims.begin(), row_count);
  const bool strings = output.datatype == DataType::kBytes;
  const uint64_t bytes =
      TensorBytes(strings ? DataType::kUint32 : output.datatype, dims).value_or(0);
  void* target = strings ? sink->AddBytes(dims, bytes) : sink->Add(output.datatype, dims);
  if (target != nullptr && bytes > 0) std::memset(target, 0, bytes);
}

}  // namespace

absl::Status InSynthetic(const LoadOrder& order, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("synthetic model '", order.model, "': ", status.message()));
}

SyntheticWeights::SyntheticWeights(uint64_t bytes) : bytes_(bytes), own_(bytes) {
  for (size_t i = 0; i < own_.size(); ++i) own_[i] = static_cast<char>(i * 7);
}

absl::StatusOr<UniqueFd> SyntheticWeights::Share() {
  absl::StatusOr<std::unique_ptr<DeviceMemory>> made = MakeHostMemory()->Make(bytes_);
  if (!made.ok()) return made.status();
  std::copy(own_.begin(), own_.end(), (*made)->data());
  if (absl::Status status = (*made)->Protect(); !status.ok()) return status;
  shared_ = *std::move(made);
  own_ = {};
  return shared_->Export();
}

absl::Status SyntheticWeights::Use(UniqueFd memory) {
  absl::StatusOr<std::unique_ptr<DeviceMemory>> opened =
      MakeHostMemory()->Open(std::move(memory), bytes_);
  if (!opened.ok()) return opened.status();
  if (!std::equal(own_.begin(), own_.end(), (*opened)->data())) {
    return absl::FailedPreconditionError("the shared weights are not those of the model");
  }
  shared_ = *std::move(opened);
  own_ = {};
  return absl::OkStatus();
}

SyntheticEffects SyntheticEffects::Real() {
  SyntheticEffects effects;
  effects.sleep = [](int64_t duration_ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
  };
  effects.crash = [] {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;  // NOLINT(clang-analyzer-core.NullDereference): what was asked for
  };
  effects.hang = [] {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  };
  return effects;
}

absl::StatusOr<std::unique_ptr<Model>> SyntheticModel::Load(const LoadOrder& order,
                                                            SyntheticEffects effects) {
  absl::StatusOr<SyntheticOptions> options = SyntheticOptions::Parse(order.parameters);
  if (!options.ok()) return InSynthetic(order, options.status());
  if (order.spec.decoupled) {
    return InSynthetic(order, absl::InvalidArgumentError(
                                  "it cannot be decoupled unless its parameter 'repeat' is true"));
  }
  absl::StatusOr<ModelSpec> spec = MirroringSpec(order.spec);
  if (!spec.ok()) return InSynthetic(order, spec.status());
  if (options->load_delay_ns > 0) effects.sleep(options->load_delay_ns);
  if (options->crash_at_load) effects.crash();
  if (options->fail_at_load)
    return InSynthetic(order, absl::InternalError("asked to fail at load"));
  return std::unique_ptr<Model>(new SyntheticModel(*std::move(spec), *options, std::move(effects)));
}

SyntheticModel::SyntheticModel(ModelSpec spec, const SyntheticOptions& options,
                               SyntheticEffects effects)
    : Model(std::move(spec)),
      options_(options),
      effects_(std::move(effects)),
      looks_at_rows_(options.fail_if.has_value() || options.throw_if.has_value() ||
                     options.crash_if.has_value() || options.hang_if.has_value()),
      weights_(options.weights) {}

absl::Status SyntheticModel::Run(uint32_t lane, absl::Span<const InputTensor> inputs,
                                 uint32_t row_count, OutputSink* sink) {
  const int64_t delay_ns = options_.DelayNs(lane, row_count);
  if (delay_ns > 0) effects_.sleep(delay_ns);
  if (looks_at_rows_ && !inputs.empty() && !inputs[0].is_left_out()) {
    absl::Status status = ActOnRows(inputs[0], row_count, sink);
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputTensor& input = inputs[i];
    if (input.is_left_out()) {
      PutZeros(spec().outputs[i], spec().batches(), row_count, sink);
      continue;
    }
    void* output = input.datatype == DataType::kBytes ? sink->AddBytes(input.dims, input.bytes)
                                                      : sink->Add(input.datatype, input.dims);
    if (output != nullptr && input.bytes > 0) std::memcpy(output, input.data, input.bytes);
  }
  return absl::OkStatus();
}

absl::Status SyntheticModel::ActOnRows(const InputTensor& input, uint32_t row_count,
                                       OutputSink* sink) const {
  const uint64_t rows = spec().batches() ? row_count : 1;
  if (rows == 0 || input.bytes < rows * ElementBytes(input.datatype)) return absl::OkStatus();
  const uint64_t row_bytes = input.bytes / rows;
  absl::Status status;
  for (uint64_t row = 0; row < rows; ++row) {
    const double first =
        ReadElement(input.datatype, static_cast<const char*>(input.data) + row * row_bytes);
    if (options_.crash_if == first) effects_.crash();
    if (options_.hang_if == first) effects_.hang();
    if (options_.throw_if == first) status = ExecuteFailure("asked to throw");
    if (options_.fail_if == first) sink->FailRow(static_cast<uint32_t>(row), "asked to fail");
  }
  return status;
}

}  // namespace mpsd

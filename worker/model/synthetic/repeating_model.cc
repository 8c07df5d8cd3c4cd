#include "worker/model/synthetic/repeating_model.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "worker/model/foreign_errors.h"

namespace mpsd {
namespace {

const std::vector<TensorSpec>& Inputs() {
  static const auto* const inputs = new std::vector<TensorSpec>{{"IN", DataType::kInt32, {-1}},
                                                                {"DELAY", DataType::kUint32, {-1}},
                                                                {"WAIT", DataType::kUint32, {1}}};
  return *inputs;
}

const std::vector<TensorSpec>& Outputs() {
  static const auto* const outputs =
      new std::vector<TensorSpec>{{"OUT", DataType::kInt32, {1}}, {"IDX", DataType::kUint32, {1}}};
  return *outputs;
}

// Whether they differ at most in their names.
bool IsLike(const TensorSpec& own, const TensorSpec& tensor) {
  return tensor.datatype == own.datatype && tensor.dims == own.dims && !tensor.optional;
}

absl::Status Take(const std::vector<TensorSpec>& own, std::vector<TensorSpec>* tensors) {
  if (tensors->empty()) *tensors = own;
  if (std::equal(own.begin(), own.end(), tensors->begin(), tensors->end(), IsLike)) {
    return absl::OkStatus();
  }
  std::string text;
  for (const TensorSpec& tensor : own) absl::StrAppend(&text, " ", TensorText(tensor));
  return absl::InvalidArgumentError(
      absl::StrCat("a model that repeats has", text, ", by these or other names"));
}

absl::StatusOr<ModelSpec> RepeatingSpec(ModelSpec spec) {
  if (!spec.decoupled || spec.batches()) {
    return absl::InvalidArgumentError(
        "a model that repeats is decoupled, and its max_batch_size is 0");
  }
  absl::Status status = Take(Inputs(), &spec.inputs);
  if (status.ok()) status = Take(Outputs(), &spec.outputs);
  if (!status.ok()) return status;
  return spec;
}

template <typename T>
T ElementOf(const InputTensor& input, uint64_t index) {
  T element;
  std::memcpy(&element, static_cast<const char*>(input.data) + index * sizeof(T), sizeof(T));
  return element;
}

template <typename T>
void Put(DataType datatype, T value, OutputSink* sink) {
  void* output = sink->Add(datatype, {1});
  if (output != nullptr) std::memcpy(output, &value, sizeof(value));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> RepeatingModel::Load(const LoadOrder& order,
                                                            SyntheticEffects effects) {
  absl::StatusOr<SyntheticOptions> options = SyntheticOptions::Parse(order.parameters);
  if (!options.ok()) return InSynthetic(order, options.status());
  absl::StatusOr<ModelSpec> spec = RepeatingSpec(order.spec);
  if (!spec.ok()) return InSynthetic(order, spec.status());
  if (options->load_delay_ns > 0) effects.sleep(options->load_delay_ns);
  if (options->crash_at_load) effects.crash();
  if (options->fail_at_load)
    return InSynthetic(order, absl::InternalError("asked to fail at load"));
  return std::unique_ptr<Model>(new RepeatingModel(*std::move(spec), *options, std::move(effects)));
}

RepeatingModel::RepeatingModel(ModelSpec spec, const SyntheticOptions& options,
                               SyntheticEffects effects)
    : Model(std::move(spec)), options_(options), effects_(std::move(effects)) {}

absl::Status RepeatingModel::Run(uint32_t, absl::Span<const InputTensor>, uint32_t, OutputSink*) {
  return absl::UnimplementedError("a model that repeats is asked for one answer at a time");
}

absl::StatusOr<bool> RepeatingModel::Answer(uint32_t lane, absl::Span<const InputTensor> inputs,
                                            uint32_t index, OutputSink* sink) {
  const uint64_t count = inputs[0].bytes / sizeof(int32_t);
  if (inputs[1].bytes / sizeof(uint32_t) != count) {
    return ExecuteFailure(absl::StrCat(spec().inputs[0].name, " and ", spec().inputs[1].name,
                                       " must have as many elements"));
  }
  if (count > kMaxAnswers) {
    return ExecuteFailure(
        absl::StrCat(spec().inputs[0].name, " has more than ", kMaxAnswers, " elements"));
  }
  if (index >= count) {
    Sleep(ElementOf<uint32_t>(inputs[2], 0));
    return false;
  }
  Sleep(ElementOf<uint32_t>(inputs[1], index));
  const int64_t delay_ns = options_.DelayNs(lane, 1);
  if (delay_ns > 0) effects_.sleep(delay_ns);
  const auto element = ElementOf<int32_t>(inputs[0], index);
  if (absl::Status status = Act(element, sink); !status.ok()) return status;
  Put(DataType::kInt32, element, sink);
  Put(DataType::kUint32, index, sink);
  return true;
}

absl::Status RepeatingModel::Act(int32_t element, OutputSink* sink) const {
  if (options_.crash_if == element) effects_.crash();
  if (options_.hang_if == element) effects_.hang();
  if (options_.throw_if == element) return ExecuteFailure("asked to throw");
  if (options_.fail_if == element) sink->FailRow(0, "asked to fail");
  return absl::OkStatus();
}

void RepeatingModel::Sleep(uint32_t delay_ms) const {
  if (delay_ms > 0) effects_.sleep(std::min(delay_ms, kMaxDelayMs) * kNsPerMs);
}

}  // namespace mpsd

#include "worker/model/torchscript/torchscript_model.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ATen/ops/zeros.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "c10/core/InferenceMode.h"
#include "torch/version.h"
#include "worker/model/elements.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/forward_outputs.h"
#include "worker/model/torch/scalar_types.h"
#include "worker/model/torch/torch_model.h"
#include "worker/model/torch/torch_precision.h"
#include "worker/model/torchscript/kept_answers.h"
#include "worker/model/torchscript/torchscript_program.h"
#include "worker/model/torchscript/torchscript_spec.h"
#include "worker/model/trial_dims.h"

namespace mpsd {
namespace {

// Owned by the worker's main. Thread-safe after loading; a decoupled model has a single lane.
class TorchScriptModel final : public TorchModel, private DecoupledAnswers {
 public:
  TorchScriptModel(const ModelSpec& spec, TorchScriptProgram program,
                   std::unique_ptr<TorchRuntime> runtime);

  DecoupledAnswers* answers() override { return spec().decoupled ? this : nullptr; }

 private:
  absl::StatusOr<c10::IValue> Borrow(const InputTensor& input) const;
  absl::StatusOr<c10::IValue> Call(absl::Span<const InputTensor> inputs) const;
  absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                       OutputSink* sink) const override;
  bool can_compute() const override { return true; }
  absl::StatusOr<std::vector<at::Tensor>> Compute(absl::Span<const at::Tensor> inputs,
                                                  uint32_t rows) const override;
  absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t index,
                              OutputSink* sink) override;
  at::Tensor Shown(const at::Tensor& tensor, const TensorSpec& output) const;
  absl::Status EmitAll(const c10::IValue& returned, uint32_t row_count, OutputSink* sink) const;
  absl::Status EmitStrings(const c10::IValue& value, const TensorSpec& output, uint32_t row_count,
                           OutputSink* sink) const;

  const TorchScriptProgram program_;
  KeptAnswers answers_;  // for the only lane of a decoupled model
};

TorchScriptModel::TorchScriptModel(const ModelSpec& spec, TorchScriptProgram program,
                                   std::unique_ptr<TorchRuntime> runtime)
    : TorchModel(spec, program.census(), std::move(runtime)), program_(std::move(program)) {
  OfferWeights(program_.Constants(this->runtime().device()));
  std::vector<ModelFact>& facts = loading_traits().facts;
  if (!program_.without_kernel().empty()) {
    facts.push_back({"without a kernel for mps", absl::StrJoin(program_.without_kernel(), ", ")});
  }
  if (program_.panel_layers() > 0) {
    facts.push_back({"linear layers in panels", absl::StrCat(program_.panel_layers())});
  }
}

absl::StatusOr<c10::IValue> TorchScriptModel::Borrow(const InputTensor& input) const {
  if (input.datatype == DataType::kBytes) {
    const std::optional<uint64_t> count = ElementCount(input.dims);
    const auto elements = ReadElements(input.data, input.bytes, count.value_or(0));
    if (!elements.ok()) return elements.status();
    c10::List<std::string> strings;
    strings.reserve(elements->size());
    for (const absl::string_view element : *elements) strings.push_back(std::string(element));
    return c10::IValue(std::move(strings));
  }
  // Kept answers may be views of the inputs, whose memory later requests reuse.
  const bool copied = program_.WritesInputs() || spec().decoupled;
  absl::StatusOr<at::Tensor> tensor = runtime().Borrow(input, copied);
  if (!tensor.ok()) return tensor.status();
  return c10::IValue(*std::move(tensor));
}

absl::Status TorchScriptModel::EmitStrings(const c10::IValue& value, const TensorSpec& output,
                                           uint32_t row_count, OutputSink* sink) const {
  if (output.datatype != DataType::kBytes) {
    return absl::InternalError(absl::StrCat("output '", output.name, "' is a list of strings, not ",
                                            std::string(DataTypeName(output.datatype))));
  }
  std::vector<std::string> elements;
  for (const c10::IValue& element : value.toListRef()) elements.push_back(element.toStringRef());
  const absl::StatusOr<Dims> dims =
      StringDims(elements.size(), output, spec().batches(), row_count);
  if (!dims.ok()) return dims.status();
  void* target = sink->AddBytes(*dims, ElementsBytes(elements));
  if (target != nullptr) WriteElements(elements, target);
  return absl::OkStatus();
}

absl::StatusOr<c10::IValue> TorchScriptModel::Call(absl::Span<const InputTensor> inputs) const {
  absl::InlinedVector<c10::IValue, 4> arguments;
  for (const InputTensor& input : inputs) {
    absl::StatusOr<c10::IValue> value = input.is_left_out() ? c10::IValue() : Borrow(input);
    if (!value.ok()) return value.status();
    arguments.push_back(*std::move(value));
  }
  return program_.Forward(arguments);
}

absl::Status TorchScriptModel::Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                       OutputSink* sink) const {
  const absl::StatusOr<c10::IValue> returned = Call(inputs);
  return returned.ok() ? EmitAll(*returned, row_count, sink) : returned.status();
}

absl::StatusOr<std::vector<at::Tensor>> TorchScriptModel::Compute(
    absl::Span<const at::Tensor> inputs, uint32_t) const {
  const absl::InlinedVector<c10::IValue, 4> arguments(inputs.begin(), inputs.end());
  const absl::StatusOr<OutputValues> values =
      OrderOutputs(program_.Forward(arguments), spec().outputs);
  if (!values.ok()) return values.status();
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < values->size(); ++i) {
    if (!(*values)[i].isTensor()) return absl::InternalError("an output is no tensor");
    outputs.push_back(Shown((*values)[i].toTensor(), spec().outputs[i]));
  }
  return outputs;
}

absl::StatusOr<bool> TorchScriptModel::Answer(uint32_t lane, absl::Span<const InputTensor> inputs,
                                              uint32_t index, OutputSink* sink) {
  bool given = false;
  const absl::Status status = OnLane(lane, [&] {
    const std::vector<c10::IValue>* answers = answers_.Find(inputs);
    if (answers == nullptr) {
      const absl::StatusOr<c10::IValue> returned = Call(inputs);
      if (!returned.ok()) return returned.status();
      absl::StatusOr<std::vector<c10::IValue>> all = SplitAnswers(*returned);
      if (!all.ok()) return all.status();
      answers = &answers_.Keep(inputs, *std::move(all));
    }
    given = index < answers->size();
    if (given) return EmitAll((*answers)[index], /*row_count=*/1, sink);
    answers_.DropLatest();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return given;
}

// Clients get the spec's float types, whatever the module computes in.
at::Tensor TorchScriptModel::Shown(const at::Tensor& tensor, const TensorSpec& output) const {
  const std::optional<c10::ScalarType> type = ToScalarType(output.datatype);
  const bool is_cast = program_.is_converted() && tensor.defined() && tensor.is_floating_point() &&
                       type.has_value() && c10::isFloatingType(*type);
  return is_cast ? tensor.to(*type) : tensor;
}

absl::Status TorchScriptModel::EmitAll(const c10::IValue& returned, uint32_t row_count,
                                       OutputSink* sink) const {
  const absl::StatusOr<OutputValues> values = OrderOutputs(returned, spec().outputs);
  if (!values.ok()) return values.status();
  for (size_t i = 0; i < values->size(); ++i) {
    const c10::IValue& value = (*values)[i];
    const TensorSpec& output = spec().outputs[i];
    const absl::Status status = value.isTensor()
                                    ? Emit(Shown(value.toTensor(), output), output, row_count, sink)
                                    : EmitStrings(value, output, row_count, sink);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LoadFailure(const LoadOrder& order, absl::string_view what) {
  const std::string line = MeaningfulLine(what);
  absl::string_view hint;
  if (absl::StrContains(line, "constants.pkl")) {
    hint = "it holds no TorchScript code; save it with torch.jit.script(model).save(path)";
  } else if (absl::StrContains(line, "zip archive")) {
    hint = "it is no TorchScript archive, or is cut short";
  } else {
    hint = line;
  }
  return CannotLoad(order, hint);
}

c10::IValue EmptyStrings(uint64_t count) {
  c10::List<std::string> strings;
  for (uint64_t i = 0; i < count; ++i) strings.push_back("");
  return c10::IValue(std::move(strings));
}

absl::StatusOr<c10::IValue> RunZeros(const ModelSpec& spec, const TorchScriptProgram& program,
                                     c10::Device device, uint32_t rows, size_t step) {
  const c10::InferenceMode inference_mode;
  absl::InlinedVector<c10::IValue, 4> values;
  for (const TensorSpec& input : spec.inputs) {
    const Dims dims = TrialDims(spec, input, rows, step, 1 + static_cast<int64_t>(step));
    const std::optional<c10::ScalarType> type = ToScalarType(input.datatype);
    if (!type.has_value()) {
      values.push_back(EmptyStrings(ElementCount(dims).value_or(0)));
      continue;
    }
    values.push_back(at::zeros(c10::IntArrayRef(dims.data(), dims.size()),
                               at::TensorOptions(*type).device(device)));
  }
  c10::IValue returned = program.Forward(values);
  if (!spec.decoupled) return returned;
  const absl::StatusOr<std::vector<c10::IValue>> answers = SplitAnswers(returned);
  if (!answers.ok()) return answers.status();
  if (answers->empty()) return absl::InternalError("forward gave no answer");
  return answers->front();
}

std::string MissingKernels(const TorchScriptProgram& program) {
  if (program.without_kernel().empty()) return "";
  return absl::StrCat("; without a kernel for mps: ",
                      absl::StrJoin(program.without_kernel(), ", "));
}

absl::Status CompleteOutputs(const LoadOrder& order, const TorchScriptProgram& program,
                             c10::Device device, ModelSpec* spec) {
  if (!spec->outputs.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<TensorSpec>> outputs;
  const absl::Status status = CatchForeign(
      [&] {
        outputs = LearnOutputs(*spec, [&](uint32_t rows, size_t step) {
          return RunZeros(*spec, program, device, rows, step);
        });
        return outputs.status();
      },
      [](absl::string_view what) { return absl::InternalError(MeaningfulLine(what)); });
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", order.model,
                     "' does not tell its outputs, and a trial run on zeros that was to "
                     "show them failed: ",
                     status.message(), MissingKernels(program),
                     "; say them, for example --output output:FP32[-1,…]"));
  }
  spec->outputs = *std::move(outputs);
  return absl::OkStatus();
}

absl::Status TrialOnZeros(const ModelSpec& spec, const TorchScriptProgram& program,
                          c10::Device device) {
  return CatchForeign(
      [&] { return RunZeros(spec, program, device, /*rows=*/1, /*step=*/0).status(); },
      [](absl::string_view what) { return absl::InternalError(MeaningfulLine(what)); });
}

// If a module takes zeros before and throws afterwards, one of its operators cannot compute in that
// precision.
absl::Status Convert(const LoadOrder& order, const ModelSpec& spec, c10::Device device,
                     TorchScriptProgram* program) {
  if (order.precision == Precision::kInt8) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", order.model,
                     "' cannot compute in int8: a TorchScript module's "
                     "products are its own; quantize the module before it is saved"));
  }
  const std::optional<c10::ScalarType> type = ConvertedType(order.precision);
  if (!type.has_value()) return absl::OkStatus();
  const bool takes_zeros = TrialOnZeros(spec, *program, device).ok();
  absl::Status status = program->Convert(*type);
  if (status.ok() && takes_zeros) status = TrialOnZeros(spec, *program, device);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("model '", order.model, "' cannot compute in ",
                                                 NameOf(order.precision), ": ", status.message()));
}

absl::StatusOr<ModelSpec> BindSpec(const LoadOrder& order, const std::string& archive_json,
                                   c10::Device device, TorchScriptProgram* program) {
  const std::vector<std::string> arguments = program->InputArguments();
  absl::StatusOr<ModelSpec> spec = MergeSpecs(order, archive_json, program->InputExamples());
  if (!spec.ok()) return spec.status();
  // A spec in the archive may name inputs otherwise than forward does.
  const bool by_name = order.inputs_by_name && archive_json.empty();
  const absl::StatusOr<std::vector<size_t>> places =
      MatchArguments(spec->inputs, arguments, by_name);
  const absl::Status bound = places.ok() ? program->Bind(spec->inputs, *places) : places.status();
  if (!bound.ok()) return InModel(order, bound);
  absl::Status status = CompleteOutputs(order, *program, device, &*spec);
  if (!status.ok()) return status;
  return spec;
}

}  // namespace

absl::Status StartTorch(const LoadOrder& order) {
  if (absl::Status status = TorchRuntime::SetEnvironment(order); !status.ok()) return status;
  const absl::StatusOr<c10::Device> device = PickDevice(order.device);
  if (!device.ok()) return device.status();
  if (device->is_cpu()) return absl::OkStatus();
  // Before the first encoder is made. If this fails, LanesAllowed() says why.
  GuardDriver(*device);
  // The first tensor makes the device's context.
  return CatchForeign([&] {
    at::zeros({1}, at::TensorOptions().device(*device));
    SynchronizeDevice(*device);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Model>> LoadTorchScript(const LoadOrder& order) {
  if (absl::Status status = CheckModelFile(order); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<TorchRuntime>> runtime = TorchRuntime::Create(order);
  if (!runtime.ok()) return runtime.status();
  const TorchOptions& options = (*runtime)->options();
  ProgramOptions program_options;
  program_options.name = order.model;
  program_options.path = order.file();
  program_options.device = (*runtime)->device();
  program_options.rewrite_linear = Wanted(options.linear_rewrite, program_options.device.is_mps());
  program_options.allow_training_mode = options.allow_training_mode;
  std::unique_ptr<Model> model;
  const absl::Status status = CatchForeign(
      [&] {
        std::string archive_json;
        absl::StatusOr<TorchScriptProgram> program =
            TorchScriptProgram::Load(program_options, &archive_json);
        if (!program.ok()) return InModel(order, program.status());
        absl::StatusOr<ModelSpec> spec =
            BindSpec(order, archive_json, program_options.device, &*program);
        if (!spec.ok()) return spec.status();
        const absl::Status converted = Convert(order, *spec, program_options.device, &*program);
        if (!converted.ok()) return converted;
        if ((*runtime)->uses_float_panels()) program->UsePanels();
        SynchronizeDevice(program_options.device);
        model = std::make_unique<TorchScriptModel>(*spec, *std::move(program), *std::move(runtime));
        return absl::OkStatus();
      },
      [&](absl::string_view what) { return LoadFailure(order, what); });
  if (!status.ok()) return status;
  return model;
}

std::string TorchRuntimeName() {
  return absl::StrCat("torch ", TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR, ".",
                      TORCH_VERSION_PATCH);
}

}  // namespace mpsd

#include "worker/model/torchscript_model.h"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ATen/Parallel.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/zeros.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "c10/core/InferenceMode.h"
#include "torch/headeronly/version.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torchscript_device.h"
#include "worker/model/torchscript_outputs.h"
#include "worker/model/torchscript_program.h"
#include "worker/model/torchscript_spec.h"
#include "worker/model/torchscript_types.h"

namespace mpsd {
namespace {

// Thread-safe after loading.
class TorchScriptModel final : public Model {
 public:
  TorchScriptModel(ModelSpec spec, TorchScriptProgram program, c10::Device device, int threads)
      : spec_(std::move(spec)), program_(std::move(program)), device_(device), threads_(threads) {}

  const ModelSpec& spec() const override { return spec_; }
  std::string device() const override { return device_.str(); }

  absl::Status BindLane(uint32_t) override {
    // OpenMP keeps the count a thread.
    at::set_num_threads(threads_);
    return BindThreadToStream(device_);
  }

  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;

 private:
  absl::StatusOr<at::Tensor> Borrow(const InputTensor& input) const;
  absl::Status RunInside(absl::Span<const InputTensor> inputs, uint32_t row_count,
                         OutputSink* sink) const;
  absl::Status Emit(const c10::IValue& returned, uint32_t row_count, OutputSink* sink) const;

  const ModelSpec spec_;
  const TorchScriptProgram program_;
  const c10::Device device_;
  const int threads_;
};

// The input's memory as a tensor on the model's device: without a copy on the cpu, unless the model
// may write into it.
absl::StatusOr<at::Tensor> TorchScriptModel::Borrow(const InputTensor& input) const {
  const std::optional<c10::ScalarType> type = ToScalarType(input.datatype);
  if (!type.has_value()) return absl::InternalError("an input is of a type without tensors");
  const c10::IntArrayRef sizes(input.dims.data(), input.dims.size());
  at::Tensor tensor = at::from_blob(const_cast<void*>(input.data), sizes, at::TensorOptions(*type));
  if (!device_.is_cpu()) return tensor.to(device_);
  return program_.WritesInputs() ? tensor.clone() : tensor;
}

absl::Status TorchScriptModel::Emit(const c10::IValue& returned, uint32_t row_count,
                                    OutputSink* sink) const {
  const absl::StatusOr<OutputTensors> tensors = OrderOutputs(returned, spec_.outputs);
  if (!tensors.ok()) return tensors.status();
  for (size_t i = 0; i < tensors->size(); ++i) {
    const at::Tensor& tensor = (*tensors)[i];
    const TensorSpec& output = spec_.outputs[i];
    absl::Status status = CheckOutput(tensor, output, spec_.batches(), row_count);
    if (!status.ok()) return status;
    const c10::IntArrayRef sizes = tensor.sizes();
    void* target = sink->Add(output.datatype, absl::MakeSpan(sizes.data(), sizes.size()));
    if (target != nullptr) CopyOutput(tensor, target);
  }
  return absl::OkStatus();
}

absl::Status TorchScriptModel::RunInside(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                         OutputSink* sink) const {
  if (inputs.size() != spec_.inputs.size()) return absl::InternalError("an input is missing");
  const c10::InferenceMode inference_mode;
  absl::InlinedVector<at::Tensor, 4> tensors;
  for (const InputTensor& input : inputs) {
    absl::StatusOr<at::Tensor> tensor = Borrow(input);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return Emit(program_.Forward(tensors), row_count, sink);
}

absl::Status TorchScriptModel::Run(uint32_t, absl::Span<const InputTensor> inputs,
                                   uint32_t row_count, OutputSink* sink) {
  absl::Status status = CatchForeign([&] { return RunInside(inputs, row_count, sink); });
  if (status.ok() || absl::StartsWith(status.message(), "PyTorch execute failure")) return status;
  return ExecuteFailure(status.message());
}

// ---- loading ----

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
  return absl::InvalidArgumentError(
      absl::StrCat("model '", order.model, "': cannot load ", order.path, ": ", hint));
}

absl::Status CheckFile(const LoadOrder& order) {
  struct stat info;
  if (stat(order.path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("model '", order.model, "': there is no file ", order.path));
}

// The inter-op pool can be sized once in a process, before its first use.
void SettleThreads(int threads) {
  at::set_num_threads(threads);
  static const bool settled = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  static_cast<void>(settled);
}

// The length of an unknown dim in the step-th trial run.
int64_t TrialLength(const ModelSpec& spec, const TensorSpec& input, uint32_t dim, size_t step) {
  for (const PadRule& rule : spec.pad) {
    if (rule.input != input.name || rule.dim != dim || rule.buckets.empty()) continue;
    return rule.buckets[std::min(step, rule.buckets.size() - 1)];
  }
  return 1 + static_cast<int64_t>(step);
}

absl::StatusOr<c10::IValue> RunZeros(const ModelSpec& spec, const TorchScriptProgram& program,
                                     c10::Device device, uint32_t rows, size_t step) {
  const c10::InferenceMode inference_mode;
  absl::InlinedVector<at::Tensor, 4> tensors;
  for (const TensorSpec& input : spec.inputs) {
    Dims dims;
    if (spec.batches()) dims.push_back(rows);
    for (uint32_t dim = 0; dim < input.dims.size(); ++dim) {
      const int64_t length = input.dims[dim];
      dims.push_back(length >= 0 ? length : TrialLength(spec, input, dim, step));
    }
    const std::optional<c10::ScalarType> type = ToScalarType(input.datatype);
    if (!type.has_value()) return absl::InternalError("an input is of a type without tensors");
    tensors.push_back(at::zeros(c10::IntArrayRef(dims.data(), dims.size()),
                                at::TensorOptions(*type).device(device)));
  }
  return program.Forward(tensors);
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
                     status.message(), "; say them, for example --output output:FP32[-1,…]"));
  }
  spec->outputs = *std::move(outputs);
  return absl::OkStatus();
}

absl::StatusOr<ModelSpec> BindSpec(const LoadOrder& order, const std::string& archive_json,
                                   c10::Device device, TorchScriptProgram* program) {
  const std::vector<std::string> arguments = program->TensorArguments();
  absl::StatusOr<ModelSpec> spec = MergeSpecs(order, archive_json, arguments);
  if (!spec.ok()) return spec.status();
  const absl::StatusOr<std::vector<size_t>> places = MatchArguments(spec->inputs, arguments);
  const absl::Status bound = places.ok() ? program->Bind(*places) : places.status();
  if (!bound.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("model '", order.model, "': ", bound.message()));
  }
  absl::Status status = CompleteOutputs(order, *program, device, &*spec);
  if (!status.ok()) return status;
  return spec;
}

}  // namespace

absl::Status StartTorch(const LoadOrder& order) {
  const absl::StatusOr<c10::Device> device = PickDevice(order.device);
  if (!device.ok()) return device.status();
  if (device->is_cpu()) return absl::OkStatus();
  // The first tensor makes the device's context.
  return CatchForeign([&] {
    at::zeros({1}, at::TensorOptions().device(*device));
    SynchronizeDevice(*device);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Model>> LoadTorchScript(const LoadOrder& order) {
  if (absl::Status status = CheckFile(order); !status.ok()) return status;
  const absl::StatusOr<c10::Device> device = PickDevice(order.device);
  if (!device.ok()) return device.status();
  std::unique_ptr<Model> model;
  const absl::Status status = CatchForeign(
      [&] {
        const int threads = static_cast<int>(std::max(order.threads, 1U));
        SettleThreads(threads);
        std::string archive_json;
        TorchScriptProgram program =
            TorchScriptProgram::Load(order.model, order.path, *device, &archive_json);
        absl::StatusOr<ModelSpec> spec = BindSpec(order, archive_json, *device, &program);
        if (!spec.ok()) return spec.status();
        SynchronizeDevice(*device);
        model = std::make_unique<TorchScriptModel>(*std::move(spec), std::move(program), *device,
                                                   threads);
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

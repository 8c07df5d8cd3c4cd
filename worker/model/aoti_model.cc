#include "worker/model/aoti_model.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/const_init.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "c10/core/InferenceMode.h"
#include "torch/csrc/inductor/aoti_runner/model_container_runner.h"
#include "worker/model/aoti_spec.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch_runtime.h"
#include "worker/model/torchscript_outputs.h"
#include "worker/model/unpacked_package.h"

namespace mpsd {
namespace {

using Runner = torch::inductor::AOTIModelContainerRunner;

// Thread-safe after loading: the runner has an instance of the model for each lane.
class AotiModel final : public Model {
 public:
  AotiModel(ModelSpec spec, PackageFacts facts, std::unique_ptr<UnpackedPackage> package,
            std::unique_ptr<Runner> runner, std::unique_ptr<TorchRuntime> runtime)
      : spec_(std::move(spec)),
        facts_(std::move(facts)),
        package_(std::move(package)),
        runner_(std::move(runner)),
        runtime_(std::move(runtime)) {}

  const ModelSpec& spec() const override { return spec_; }
  std::string device() const override { return runtime_->device().str(); }
  Census census() const override { return facts_.census; }
  bool wants_self_check() const override { return runtime_->options().self_check; }
  uint32_t LanesAllowed(uint32_t wanted, std::string* why) const override {
    return mpsd::LanesAllowed(device(), runtime_->kind(), facts_.census, wanted, why);
  }
  void RegisterMemory(const void* data, uint64_t bytes) override {
    runtime_->RegisterMemory(data, bytes);
  }
  void UnregisterMemory(const void* data) override { runtime_->UnregisterMemory(data); }
  absl::Status BindLane(uint32_t lane) override { return runtime_->BindLane(lane); }
  void ReleaseLane(uint32_t lane) override { runtime_->ReleaseLane(lane); }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;

 private:
  absl::Status RunInside(absl::Span<const InputTensor> inputs, uint32_t row_count,
                         OutputSink* sink) const;
  absl::Status Emit(const std::vector<at::Tensor>& tensors, uint32_t row_count,
                    OutputSink* sink) const;

  const ModelSpec spec_;
  const PackageFacts facts_;
  const std::unique_ptr<UnpackedPackage> package_;
  const std::unique_ptr<Runner> runner_;
  const std::unique_ptr<TorchRuntime> runtime_;
};

absl::Status AotiModel::Emit(const std::vector<at::Tensor>& tensors, uint32_t row_count,
                             OutputSink* sink) const {
  if (tensors.size() != spec_.outputs.size()) {
    return absl::InternalError(absl::StrCat("the package returned ", tensors.size(),
                                            " tensors where the spec has ", spec_.outputs.size(),
                                            " outputs"));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorSpec& output = spec_.outputs[i];
    absl::Status status = CheckOutput(tensors[i], output, spec_.batches(), row_count);
    if (!status.ok()) return status;
    const c10::IntArrayRef sizes = tensors[i].sizes();
    void* target = sink->Add(output.datatype, absl::MakeSpan(sizes.data(), sizes.size()));
    if (target != nullptr) runtime_->CopyOut(tensors[i], target);
  }
  return absl::OkStatus();
}

absl::Status AotiModel::RunInside(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                  OutputSink* sink) const {
  if (inputs.size() != spec_.inputs.size()) return absl::InternalError("an input is missing");
  const c10::InferenceMode inference_mode;
  std::vector<at::Tensor> tensors;
  for (const InputTensor& input : inputs) {
    absl::StatusOr<at::Tensor> tensor = runtime_->Borrow(input, facts_.writes_inputs);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return Emit(runner_->boxed_run(std::move(tensors)), row_count, sink);
}

absl::Status AotiModel::Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                            OutputSink* sink) {
  const DeviceGate::Permit permit(runtime_->gate());
  const absl::Status status = CatchForeign([&] { return RunInside(inputs, row_count, sink); });
  // Also after a failure: copies that have begun read and write memory that is not the device's.
  const absl::Status finished = runtime_->Finish(lane);
  return ModelFailure(finished.ok() ? status : finished);
}

absl::Status InModel(const LoadOrder& order, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("model '", order.model, "': ", status.message()));
}

absl::Status LoadFailure(const LoadOrder& order, absl::string_view what) {
  std::string line = MeaningfulLine(what);
  if (absl::StrContains(line, "zip archive") || absl::StrContains(line, "miniz") ||
      absl::StrContains(line, "Failed to initialize zip")) {
    line = "it is no .pt2 package, or is cut short";
  } else if (absl::StrContains(line, "libtorch")) {
    line = absl::StrCat(line, "; export it with export_model.py, which does not tie it to one");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("model '", order.model, "': cannot load ", order.path, ": ", line));
}

std::string Machine() {
  utsname name{};
  return uname(&name) == 0 ? name.machine : "";
}

absl::StatusOr<PackageFacts> Facts(const LoadOrder& order, const std::string& device) {
  const absl::StatusOr<PackageMetadata> metadata = UnpackedPackage::ReadMetadata(order.path);
  if (!metadata.ok()) return metadata.status();
  absl::StatusOr<PackageFacts> facts = ReadPackageFacts(*metadata);
  if (!facts.ok()) return facts;
  if (absl::Status fits = CheckPackageFits(*facts, device, Machine()); !fits.ok()) return fits;
  return facts;
}

// An instance of the model for each lane; two libraries at a time were never meant to be opened.
absl::StatusOr<std::unique_ptr<Runner>> Open(const UnpackedPackage& package, uint32_t lanes,
                                             c10::Device device) {
  static absl::Mutex mu(absl::kConstInit);
  absl::MutexLock lock(&mu);
  const std::string type = c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  const auto& makers = torch::inductor::getAOTIModelRunnerRegistry();
  const auto maker = makers.find(type);
  if (maker == makers.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the libtorch in use runs no packages on ", type));
  }
  return maker->second(package.library(), std::max(lanes, 1U), device.str(), package.folder(),
                       /*run_single_threaded=*/false);
}

absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                            std::unique_ptr<TorchRuntime> runtime) {
  const c10::Device device = runtime->device();
  absl::StatusOr<PackageFacts> facts = Facts(order, device.str());
  if (!facts.ok()) return InModel(order, facts.status());
  absl::StatusOr<ModelSpec> spec = MergePackageSpec(order, *facts);
  if (!spec.ok()) return InModel(order, spec.status());
  absl::StatusOr<std::unique_ptr<UnpackedPackage>> package = UnpackedPackage::Unpack(order.path);
  if (!package.ok()) return InModel(order, package.status());
  absl::StatusOr<std::unique_ptr<Runner>> runner = Open(**package, order.lanes, device);
  if (!runner.ok()) return InModel(order, runner.status());
  return std::make_unique<AotiModel>(*std::move(spec), *std::move(facts), *std::move(package),
                                     *std::move(runner), std::move(runtime));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> LoadAoti(const LoadOrder& order) {
  struct stat info;
  if (stat(order.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return absl::NotFoundError(
        absl::StrCat("model '", order.model, "': there is no file ", order.path));
  }
  absl::StatusOr<std::unique_ptr<TorchRuntime>> runtime = TorchRuntime::Create(order);
  if (!runtime.ok()) return runtime.status();
  absl::StatusOr<std::unique_ptr<Model>> model;
  const absl::Status status = CatchForeign(
      [&] {
        model = Load(order, *std::move(runtime));
        return model.status();
      },
      [&](absl::string_view what) { return LoadFailure(order, what); });
  if (!status.ok()) return status;
  return model;
}

}  // namespace mpsd

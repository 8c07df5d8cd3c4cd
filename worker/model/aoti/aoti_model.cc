#include "worker/model/aoti/aoti_model.h"

#include <sys/utsname.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/const_init.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "torch/csrc/inductor/aoti_runner/model_container_runner.h"
#include "worker/model/aoti/aoti_spec.h"
#include "worker/model/aoti/unpacked_package.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/torch_model.h"

namespace mpsd {
namespace {

using Runner = torch::inductor::AOTIModelContainerRunner;

// Runs a package. Owned by the worker's main. Thread-safe after loading: the runner has an instance
// of the model for each lane.
class AotiModel final : public TorchModel {
 public:
  AotiModel(ModelSpec spec, const PackageFacts& facts, std::unique_ptr<UnpackedPackage> package,
            std::unique_ptr<Runner> runner, std::unique_ptr<TorchRuntime> runtime)
      : TorchModel(std::move(spec), facts.census, std::move(runtime)),
        writes_inputs_(facts.writes_inputs),
        package_(std::move(package)),
        runner_(std::move(runner)) {}

 private:
  absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                       OutputSink* sink) const override;

  const bool writes_inputs_;
  const std::unique_ptr<UnpackedPackage> package_;
  const std::unique_ptr<Runner> runner_;
};

absl::Status AotiModel::Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                OutputSink* sink) const {
  std::vector<at::Tensor> tensors;
  for (const InputTensor& input : inputs) {
    absl::StatusOr<at::Tensor> tensor = runtime().Borrow(input, writes_inputs_);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  const std::vector<at::Tensor> returned = runner_->boxed_run(std::move(tensors));
  if (returned.size() != spec().outputs.size()) {
    return absl::InternalError(absl::StrCat("the package returned ", returned.size(),
                                            " tensors where the spec has ", spec().outputs.size(),
                                            " outputs"));
  }
  for (size_t i = 0; i < returned.size(); ++i) {
    const absl::Status status = Emit(returned[i], spec().outputs[i], row_count, sink);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LoadFailure(const LoadOrder& order, absl::string_view what) {
  std::string line = MeaningfulLine(what);
  if (absl::StrContains(line, "zip archive") || absl::StrContains(line, "miniz") ||
      absl::StrContains(line, "Failed to initialize zip")) {
    line = "it is no .pt2 package, or is cut short";
  } else if (absl::StrContains(line, "libtorch")) {
    line = absl::StrCat(line, "; export it with export_model.py, which does not tie it to one");
  }
  return CannotLoad(order, line);
}

std::string Machine() {
  utsname name{};
  return uname(&name) == 0 ? name.machine : "";
}

absl::StatusOr<PackageFacts> Facts(const LoadOrder& order, const std::string& device) {
  const absl::StatusOr<PackageMetadata> metadata = UnpackedPackage::ReadMetadata(order.file());
  if (!metadata.ok()) return metadata.status();
  absl::StatusOr<PackageFacts> facts = ReadPackageFacts(*metadata);
  if (!facts.ok()) return facts;
  if (absl::Status fits = CheckPackageFits(*facts, device, Machine()); !fits.ok()) return fits;
  return facts;
}

// Opens the library with one instance of the model for each lane. Opening two such libraries in a
// process was never intended by libtorch.
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
  absl::StatusOr<std::unique_ptr<UnpackedPackage>> package = UnpackedPackage::Unpack(order.file());
  if (!package.ok()) return InModel(order, package.status());
  absl::StatusOr<std::unique_ptr<Runner>> runner = Open(**package, order.lanes, device);
  if (!runner.ok()) return InModel(order, runner.status());
  return std::make_unique<AotiModel>(*std::move(spec), *facts, *std::move(package),
                                     *std::move(runner), std::move(runtime));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> LoadAoti(const LoadOrder& order) {
  if (absl::Status status = CheckModelFile(order); !status.ok()) return status;
  if (absl::Status status = CheckPackagePrecision(order.precision); !status.ok()) return status;
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

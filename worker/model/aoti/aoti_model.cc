#include "worker/model/aoti/aoti_model.h"

#include <sys/utsname.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "worker/model/aoti/aoti_spec.h"
#include "worker/model/aoti/package_runner.h"
#include "worker/model/aoti/unpacked_package.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/torch_model.h"

namespace mpsd {
namespace {

// With more lanes than this, their few launches overlap, and replays gain nothing: a device runs
// fewer of them side by side.
constexpr uint32_t kMostLanesThatRecord = 3;

bool ShouldRecord(const TorchRuntime& runtime, uint32_t lanes) {
  return runtime.device().is_cuda() &&
         (lanes <= kMostLanesThatRecord || runtime.options().graphs == Switch::kOn);
}

// Owned by the worker's main. Thread-safe after loading: each lane has an instance of the model,
// and lanes record one after another.
class AotiModel final : public TorchModel {
 public:
  AotiModel(const ModelSpec& spec, const PackageFacts& facts, bool should_record,
            std::unique_ptr<UnpackedPackage> package, std::unique_ptr<PackageRunner> runner,
            std::unique_ptr<TorchRuntime> runtime)
      : TorchModel(spec, facts.census, std::move(runtime)),
        writes_inputs_(facts.writes_inputs),
        should_record_(should_record),
        package_(std::move(package)),
        runner_(std::move(runner)) {}

 private:
  absl::Status Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                       OutputSink* sink) const override;

  bool can_compute() const override { return should_record_; }
  absl::StatusOr<RecordedBatch> BeginRecord(absl::Span<const InputTensor> inputs,
                                            uint32_t row_count) const override;
  absl::StatusOr<std::vector<at::Tensor>> Compute(absl::Span<const at::Tensor> inputs,
                                                  uint32_t rows) const override;

  absl::StatusOr<std::vector<at::Tensor>> Checked(std::vector<at::Tensor> outputs) const;

  const bool writes_inputs_;
  const bool should_record_;
  const std::unique_ptr<UnpackedPackage> package_;
  const std::unique_ptr<PackageRunner> runner_;
  mutable absl::Mutex mu_;
  // Made for the first record.
  mutable std::unique_ptr<RecordingRunner> recording_ ABSL_GUARDED_BY(mu_);
};

absl::Status AotiModel::Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                OutputSink* sink) const {
  std::vector<at::Tensor> tensors;
  for (const InputTensor& input : inputs) {
    absl::StatusOr<at::Tensor> tensor = runtime().Borrow(input, writes_inputs_);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  const absl::StatusOr<std::vector<at::Tensor>> outputs =
      Checked(runner_->boxed_run(std::move(tensors)));
  if (!outputs.ok()) return outputs.status();
  for (size_t i = 0; i < outputs->size(); ++i) {
    const absl::Status status = Emit((*outputs)[i], spec().outputs[i], row_count, sink);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<at::Tensor>> AotiModel::Checked(std::vector<at::Tensor> outputs) const {
  if (outputs.size() == spec().outputs.size()) return outputs;
  return absl::InternalError(absl::StrCat("the package returned ", outputs.size(),
                                          " tensors where the spec has ", spec().outputs.size(),
                                          " outputs"));
}

absl::StatusOr<RecordedBatch> AotiModel::BeginRecord(absl::Span<const InputTensor> inputs,
                                                     uint32_t row_count) const {
  absl::StatusOr<RecordedBatch> record = TorchModel::BeginRecord(inputs, row_count);
  if (!record.ok()) return record;
  absl::MutexLock lock(&mu_);
  if (recording_ == nullptr) {
    auto opened = RecordingRunner::Open(*package_, *runner_, runtime().device());
    if (!opened.ok()) return opened.status();
    recording_ = *std::move(opened);
  }
  recording_->Run(record->inputs);
  return record;
}

absl::StatusOr<std::vector<at::Tensor>> AotiModel::Compute(absl::Span<const at::Tensor> inputs,
                                                           uint32_t) const {
  absl::MutexLock lock(&mu_);
  return Checked(recording_->Run({inputs.begin(), inputs.end()}));
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

absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                            std::unique_ptr<TorchRuntime> runtime) {
  const c10::Device device = runtime->device();
  absl::StatusOr<PackageFacts> facts = Facts(order, device.str());
  if (!facts.ok()) return InModel(order, facts.status());
  absl::StatusOr<ModelSpec> spec = MergePackageSpec(order, *facts);
  if (!spec.ok()) return InModel(order, spec.status());
  absl::StatusOr<std::unique_ptr<UnpackedPackage>> package = UnpackedPackage::Unpack(order.file());
  if (!package.ok()) return InModel(order, package.status());
  absl::StatusOr<std::unique_ptr<PackageRunner>> runner =
      OpenRunner(**package, order.lanes, device);
  if (!runner.ok()) return InModel(order, runner.status());
  const bool should_record = ShouldRecord(*runtime, order.lanes);
  return std::make_unique<AotiModel>(*spec, *facts, should_record, *std::move(package),
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

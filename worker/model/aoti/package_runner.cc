#include "worker/model/aoti/package_runner.h"

#include <algorithm>

#include "absl/base/const_init.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {
namespace {

// libtorch cannot open two such libraries at the same time.
absl::StatusOr<std::unique_ptr<PackageRunner>> OpenAlone(const UnpackedPackage& package,
                                                         uint32_t instances, c10::Device device,
                                                         bool asks_nothing) {
  static absl::Mutex mu(absl::kConstInit);
  absl::MutexLock lock(&mu);
  const std::string type = c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  const auto& makers = torch::inductor::getAOTIModelRunnerRegistry();
  const auto maker = makers.find(type);
  if (maker == makers.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the libtorch in use runs no packages on ", type));
  }
  return maker->second(package.library(), instances, device.str(), package.folder(),
                       /*run_single_threaded=*/asks_nothing);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PackageRunner>> OpenRunner(const UnpackedPackage& package,
                                                          uint32_t instances, c10::Device device) {
  return OpenAlone(package, std::max(instances, 1U), device, /*asks_nothing=*/false);
}

absl::StatusOr<std::unique_ptr<RecordingRunner>> RecordingRunner::Open(
    const UnpackedPackage& package, const PackageRunner& weights, c10::Device device) {
  absl::StatusOr<std::unique_ptr<PackageRunner>> opened =
      OpenAlone(package, 1, device, /*asks_nothing=*/true);
  if (!opened.ok()) return opened.status();
  auto recording = std::make_unique<RecordingRunner>();
  recording->runner_ = *std::move(opened);
  recording->TakeWeights(weights);
  return recording;
}

// A weight that the other runner withholds would stay in memory that is freed here. Then this
// runner keeps its own weights.
void RecordingRunner::TakeWeights(const PackageRunner& other) {
  // One side names a weight as the model does, the other as the code does.
  const auto by_model_name = other.extract_constants_map(/*use_inactive=*/false);
  for (const auto& [name, model_name] : runner_->getConstantNamesToOriginalFQNs()) {
    const auto weight = by_model_name.find(model_name);
    if (weight == by_model_name.end()) return weights_.clear();
    weights_[name] = weight->second;
  }
  // Into the second buffer and back: such a runner looks at the state of the first even if the
  // second is in use.
  for (int buffer = 0; buffer < 2; ++buffer) {
    runner_->update_constant_buffer(weights_, /*use_inactive=*/true,
                                    /*validate_full_updates=*/true, /*user_managed=*/true);
    runner_->swap_constant_buffer();
    runner_->free_inactive_constant_buffer();
  }
}

}  // namespace mpsd

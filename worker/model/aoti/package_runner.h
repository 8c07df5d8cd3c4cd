// PackageRunner and RecordingRunner: the compiled code of a package, opened by libtorch. Opening
// runs that code, so it happens only in a worker's sandbox.
//
//   PackageRunner      One instance of the model for each lane. After each run it asks the device
//                      whether that instance is free again.
//   RecordingRunner    One more instance, which asks nothing: the device may not be asked while a
//                      run is recorded. It uses the other runner's weights if all can be had, so
//                      that the device holds them once.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "torch/csrc/inductor/aoti_runner/model_container_runner.h"
#include "worker/model/aoti/unpacked_package.h"

namespace mpsd {

// libtorch's own class. Thread-safe, for as many calls at once as there are instances.
using PackageRunner = torch::inductor::AOTIModelContainerRunner;

// Opens one instance for each lane, or a single one if `instances` is 0. A second caller waits for
// the first. FAILED_PRECONDITION when this libtorch runs no packages on the device. May throw.
absl::StatusOr<std::unique_ptr<PackageRunner>> OpenRunner(const UnpackedPackage& package,
                                                          uint32_t instances, c10::Device device);

// Owned by the model and declared after the runner whose weights it uses. Thread-compatible.
class RecordingRunner {
 public:
  // Borrows `weights`. The device holds the weights twice until this returns. Fails as OpenRunner()
  // does.
  static absl::StatusOr<std::unique_ptr<RecordingRunner>> Open(const UnpackedPackage& package,
                                                               const PackageRunner& weights,
                                                               c10::Device device);

  // Runs on the calling thread's stream. The first run loads kernels, so it cannot be recorded. May
  // throw.
  std::vector<at::Tensor> Run(std::vector<at::Tensor> inputs) {
    return runner_->boxed_run(std::move(inputs));
  }

 private:
  // Takes all weights or none.
  void TakeWeights(const PackageRunner& other);

  // The runner keeps pointers to these tensors.
  std::unordered_map<std::string, at::Tensor> weights_;
  std::unique_ptr<PackageRunner> runner_;
};

}  // namespace mpsd

// PackageRunner and RecordingRunner: the compiled code of a package, opened by libtorch.
//
//   PackageRunner      an instance of the model for each lane; asks the device after each run
//                      whether that instance is free again
//   RecordingRunner    one instance more that asks nothing, since the device may not be asked while
//                      a run is recorded; its weights are the other's where all of them can be had,
//                      so that the device has them once
//
// A package is a shared library that torch.export's compiler has made, with the weights beside it.
// Opening one runs its code: so that happens in a worker's sandbox alone.
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

// libtorch's own. Thread-safe, as far as there are instances.
using PackageRunner = torch::inductor::AOTIModelContainerRunner;

// With an instance for each lane, one where `instances` is 0. Two packages are never opened at the
// same time: the second caller waits. FAILED_PRECONDITION when the libtorch in use runs no packages
// on the device. May throw what libtorch throws, for a package that it cannot open among others.
absl::StatusOr<std::unique_ptr<PackageRunner>> OpenRunner(const UnpackedPackage& package,
                                                          uint32_t instances, c10::Device device);

// Owned by the model, after the runner whose weights it has. Thread-compatible.
class RecordingRunner {
 public:
  // The device holds the weights twice until this returns. Borrows `weights`. As OpenRunner().
  static absl::StatusOr<std::unique_ptr<RecordingRunner>> Open(const UnpackedPackage& package,
                                                               const PackageRunner& weights,
                                                               c10::Device device);

  // Runs on the calling thread's stream. The first run loads the code of kernels, and so cannot be
  // recorded. May throw.
  std::vector<at::Tensor> Run(std::vector<at::Tensor> inputs) {
    return runner_->boxed_run(std::move(inputs));
  }

 private:
  // All of them or none: a weight that the other runner keeps for itself would be freed here.
  void TakeWeights(const PackageRunner& other);

  // The runner keeps pointers to them.
  std::unordered_map<std::string, at::Tensor> weights_;
  std::unique_ptr<PackageRunner> runner_;
};

}  // namespace mpsd

// torchscript_model: models in an archive that torch.jit.save wrote, run by libtorch in this
// process.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/model/model.h"

namespace mpsd {

// As StartRuntime(), for every format that runs on libtorch.
absl::Status StartTorch(const LoadOrder& order);

// As LoadModel(), for the format "torchscript". Sizes libtorch's thread pools for the process.
// Outputs that neither archive nor order names are learned from trial runs on zeros.
absl::StatusOr<std::unique_ptr<Model>> LoadTorchScript(const LoadOrder& order);

// For example "torch 2.11.0".
std::string TorchRuntimeName();

}  // namespace mpsd

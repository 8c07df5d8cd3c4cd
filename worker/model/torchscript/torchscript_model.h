// TorchScript models: an archive written by torch.jit.save, run by libtorch in this process.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/model/model.h"

namespace mpsd {

// As StartRuntime(), for models that run on libtorch.
absl::Status StartTorch(const LoadOrder& order);

// As LoadModel(), for the format "torchscript". Sizes libtorch's thread counts for the process.
absl::StatusOr<std::unique_ptr<Model>> LoadTorchScript(const LoadOrder& order);

// "torch 2.11.0".
std::string TorchRuntimeName();

}  // namespace mpsd

// torchscript_model: models in an archive that torch.jit.save wrote, run by libtorch in this
// process.
//
//   TorchScriptProgram::Load          reads, checks and freezes the module   torchscript_program.h
//   MergeSpecs                        config's spec over the archive's       torchscript_spec.h
//   MatchArguments, Program::Bind     which argument each input is           torchscript_spec.h
//   LearnOutputs                      trial runs, if nobody names outputs    forward_outputs.h
//   Program::Convert                  if the order asks for a precision      graph_precision.h
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// StartRuntime() for every format that runs on libtorch. Makes the device's context, which takes
// seconds on cuda.
absl::Status StartTorch(const LoadOrder& order);

// LoadModel() for the format "torchscript". Sizes libtorch's thread pools for the process.
// FAILED_PRECONDITION: the module is in training mode, and the parameters do not allow it.
// INVALID_ARGUMENT: the file is no TorchScript archive, the module cannot compute in the order's
// precision, or the spec cannot be completed; the text says which flag or key to add. Called on the
// main thread, after StartTorch().
absl::StatusOr<std::unique_ptr<Model>> LoadTorchScript(const LoadOrder& order);

// Compiled against, for example "torch 2.11.0".
std::string TorchRuntimeName();

}  // namespace mpsd

// torchscript_model: models in an archive that torch.jit.save wrote, run by libtorch in this
// process.
//
// An archive holds code and weights, and may hold an mpsd.json with the model's spec. The steps of
// loading, and their files:
//
//   TorchScriptProgram::Load          reads, checks and freezes the module   torchscript_program.h
//   MergeSpecs                        archive's spec, config's over it       torchscript_spec.h
//   MatchArguments, Program::Bind     which argument each input is           torchscript_spec.h
//   LearnOutputs                      if nobody names them: trial runs       forward_outputs.h
//   Program::Convert                  where the order asks for a precision   graph_precision.h
//
// The model that comes out is a TorchModel (worker/model/torch), which does all that does not
// depend on the format.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/model/model.h"

namespace mpsd {

// As StartRuntime(), for every format that runs on libtorch: sets the environment that libtorch
// reads, loads the code for the device and makes the device's context, which takes seconds on cuda.
absl::Status StartTorch(const LoadOrder& order);

// As LoadModel(), for the format "torchscript". Sizes libtorch's thread pools for the process.
// Outputs that neither archive nor order names are learned from trial runs on zeros.
// FAILED_PRECONDITION for a module in training mode, unless the parameters allow it.
// INVALID_ARGUMENT when the file is no TorchScript archive, the module cannot compute in the
// order's precision, or the spec cannot be completed; the text says which flag or key to add.
// Called on the main thread, after StartTorch().
absl::StatusOr<std::unique_ptr<Model>> LoadTorchScript(const LoadOrder& order);

// The libtorch that this binary was compiled against, for example "torch 2.11.0".
std::string TorchRuntimeName();

}  // namespace mpsd

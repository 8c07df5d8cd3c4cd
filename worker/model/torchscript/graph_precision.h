// ConvertPrecision: makes a frozen TorchScript module compute in another type of floats.
//
// While loading, after the outputs are known (TorchScriptProgram::Convert()):
//
//   weights       every constant of floats with a dim becomes one of `type`
//   operands      what flows into a product, a convolution or a norm is cast to `type`, unless it
//                 comes out of such an operator
//   fills         a mask's number beyond the type's range becomes its largest one
//   all else      computes in the types that flow into it
//
// So the module's long way is of `type`, and what its author computes in float on purpose, as masks
// and positions are, stays float until the next product. Numbers without a dim stay as they are:
// they do not decide the type of a result, and 1e-12 would become 0.
#pragma once

#include "absl/status/status.h"
#include "c10/core/ScalarType.h"
#include "torch/csrc/jit/api/module.h"

namespace mpsd {

// Changes forward's graph. INVALID_ARGUMENT names what cannot be converted: weights that freezing
// left in the module, a call that cannot be followed, operators on quantized numbers, complex
// weights. The module means nothing after an error. Throws what libtorch throws. Called on the main
// thread. REQUIRES: nothing has run this module.
absl::Status ConvertPrecision(c10::ScalarType type, torch::jit::Module* module);

}  // namespace mpsd

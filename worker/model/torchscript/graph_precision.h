// ConvertPrecision: makes a frozen TorchScript module compute in another type of floats.
//
//   Weights       Every float constant with a dim becomes `type`.
//   Operands      An input of a product, a convolution or a norm is cast to `type`, unless it comes
//                 from such an operator.
//   Fills         A mask's number beyond the type's range becomes the type's largest number.
//   All else      Computes in the types that flow into it.
//
// So masks and positions, which an author computes in float on purpose, stay float until the next
// product. Numbers without a dim stay too: they do not decide a result's type, and 1e-12 would
// become 0.
#pragma once

#include "absl/status/status.h"
#include "c10/core/ScalarType.h"
#include "torch/csrc/jit/api/module.h"

namespace mpsd {

// Changes forward's graph, after the outputs are known. INVALID_ARGUMENT names what cannot be
// converted: weights that freezing left in the module, a call that cannot be followed, operators on
// quantized numbers, or complex weights. The module means nothing after an error. May throw. Called
// on the main thread. REQUIRES: nothing has run this module.
absl::Status ConvertPrecision(c10::ScalarType type, torch::jit::Module* module);

}  // namespace mpsd

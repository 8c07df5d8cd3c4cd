// Activation: the functions between linear maps, and their names in the files of a folder.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The function between the two linear maps of a layer, or of a head.
enum class Activation { kIdentity, kGelu, kGeluTanh, kRelu, kSilu, kTanh, kSigmoid, kSoftmax };

// A word for people: "GELU".
absl::string_view NameOf(Activation activation);

// The activation of a class of PyTorch, such as "torch.nn.modules.activation.Tanh" or "Sigmoid".
// INVALID_ARGUMENT names an unknown one. Pure.
absl::StatusOr<Activation> ActivationOfClass(absl::string_view name);

// The activation that config.json names for a layer, such as "gelu_new". INVALID_ARGUMENT is the
// end of a sentence and lists the known ones. Pure.
absl::StatusOr<Activation> ActivationOfLayer(absl::string_view name);

}  // namespace mpsd

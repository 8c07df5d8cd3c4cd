// Activation: the functions between linear maps, and their names in the files of a folder.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

enum class Activation { kIdentity, kGelu, kGeluTanh, kRelu, kSilu, kTanh, kSigmoid, kSoftmax };

// For people: "GELU".
absl::string_view NameOf(Activation activation);

// For a class of PyTorch: "torch.nn.modules.activation.Tanh" or "Sigmoid". INVALID_ARGUMENT names
// an unknown one. Pure.
absl::StatusOr<Activation> ActivationOfClass(absl::string_view name);

// For a layer in config.json: "gelu_new". INVALID_ARGUMENT ends a sentence and lists the known
// ones. Pure.
absl::StatusOr<Activation> ActivationOfLayer(absl::string_view name);

}  // namespace mpsd

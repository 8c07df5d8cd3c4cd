#include "worker/model/encoder/config/activation.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

constexpr std::pair<absl::string_view, Activation> kLayerActivations[] = {
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"relu", Activation::kRelu},
    {"silu", Activation::kSilu},
};

constexpr std::pair<absl::string_view, Activation> kActivationClasses[] = {
    {"Identity", Activation::kIdentity}, {"Tanh", Activation::kTanh},
    {"Sigmoid", Activation::kSigmoid},   {"ReLU", Activation::kRelu},
    {"GELU", Activation::kGelu},         {"SiLU", Activation::kSilu},
    {"Softmax", Activation::kSoftmax},
};

}  // namespace

absl::string_view NameOf(Activation activation) {
  for (const auto& [name, known] : kActivationClasses) {
    if (known == activation) return name;
  }
  return "GELU(tanh)";
}

absl::StatusOr<Activation> ActivationOfClass(absl::string_view name) {
  const absl::string_view last = name.substr(name.rfind('.') + 1);
  for (const auto& [known, activation] : kActivationClasses) {
    if (last == known) return activation;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the activation '", name.substr(0, 100), "' is not known"));
}

absl::StatusOr<Activation> ActivationOfLayer(absl::string_view name) {
  for (const auto& [known, activation] : kLayerActivations) {
    if (name == known) return activation;
  }
  return absl::InvalidArgumentError("mpsd knows gelu, gelu_new, gelu_pytorch_tanh, relu, silu");
}

}  // namespace mpsd

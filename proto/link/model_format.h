// ModelFormat: what kind of model a worker loads.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class ModelFormat {
  kTorchScript,  // a .pt file
  kAoti,         // a .pt2 package, compiled ahead of time
  kSynthetic,    // no file: a model of ours, for tests and measurements
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<ModelFormat> = {"torchscript", "aoti",
                                                                          "synthetic"};

}  // namespace mpsd

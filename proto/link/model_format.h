// ModelFormat: what kind of model a worker loads.
//
// The config's `format`, or else the model's path, says it. A worker without libtorch loads only
// kSynthetic.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class ModelFormat {
  kTorchScript,  // a .pt file
  kAoti,         // a .pt2 package
  kHuggingFace,  // a folder of an encoder of text
  kSynthetic,    // no file: built in, for tests and measurements
};

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<ModelFormat> = {
    "torchscript", "aoti", "huggingface", "synthetic"};

}  // namespace mpsd

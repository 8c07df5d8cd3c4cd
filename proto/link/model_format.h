// ModelFormat: what kind of model a worker loads.
//
// The config's `format` says it, or else the model's path. The LoadOrder carries it to the worker,
// where it chooses the loader (worker/load/load_model.h). A worker built without libtorch can load
// only kSynthetic.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class ModelFormat {
  kTorchScript,  // a .pt file
  kAoti,         // a .pt2 package, compiled ahead of time
  kHuggingFace,  // a folder with config.json and safetensors: an encoder of text
  kSynthetic,    // no file: a model built in, for tests and measurements
};

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<ModelFormat> = {
    "torchscript", "aoti", "huggingface", "synthetic"};

}  // namespace mpsd

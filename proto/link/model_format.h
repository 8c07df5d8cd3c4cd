// ModelFormat: what kind of model a worker loads.
//
// The config's `format`, or else the model's path, says it, and the LoadOrder carries it to the
// worker, where it chooses the loader (worker/load/load_model.h). Of these only kSynthetic works in
// a worker that was built without libtorch.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class ModelFormat {
  kTorchScript,  // a .pt file
  kAoti,         // a .pt2 package, compiled ahead of time
  kHuggingFace,  // a folder with config.json and safetensors: an encoder of text
  kSynthetic,    // no file: a model of ours, for tests and measurements
};

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<ModelFormat> = {
    "torchscript", "aoti", "huggingface", "synthetic"};

}  // namespace mpsd

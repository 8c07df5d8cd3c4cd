// ModelFormat: what kind of model a worker loads.
//
// The config's `format`, or else the file's ending, says it, and the LoadOrder carries it to the
// worker, where it chooses the loader (worker/load/load_model.h). Of the three only kSynthetic
// works in a worker that was built without libtorch, and only a synthetic model can be decoupled.
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

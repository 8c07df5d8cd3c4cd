// InputMemory: whether a worker's gpu reads the rows of a batch where they lie.
//
// At its start a worker on mps tests whether the gpu can read the front end's slabs
// (worker/model/torch/unified_memory.h). Operators read the answer in `mpsd ps` and /metrics.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class InputMemory {
  kNone,     // another device
  kInPlace,  // except inputs that are not aligned for the gpu
  kCopied,
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<InputMemory> = {"none", "in_place",
                                                                          "copied"};

}  // namespace mpsd

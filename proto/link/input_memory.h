// InputMemory: whether a worker's gpu uses the rows of a batch where they lie.
//
// A Mac's cpu and gpu have one memory. A worker on mps tries out at its start whether the gpu reads
// the front end's slabs (worker/model/torch/unified_memory.h), copies the inputs where it does not,
// and tells the front end which in its LoadReport. Operators read it in `mpsd ps` and in /metrics.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class InputMemory {
  kNone,     // no question: another device
  kInPlace,  // the gpu reads the slabs; what is not aligned for it is copied
  kCopied,   // every input is copied
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<InputMemory> = {"none", "in_place",
                                                                          "copied"};

}  // namespace mpsd

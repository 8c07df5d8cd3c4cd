// InputMemory: whether a worker's gpu reads the rows of a batch where they lie.
//
// A Mac's cpu and gpu share one memory. At its start, a worker on mps tests whether the gpu can
// read the front end's slabs (worker/model/torch/unified_memory.h), and otherwise copies the
// inputs. Its LoadReport says which; operators read it in `mpsd ps` and in /metrics.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class InputMemory {
  kNone,     // not applicable: another device
  kInPlace,  // the gpu reads the slabs; inputs that are not aligned for it are copied
  kCopied,   // every input is copied
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<InputMemory> = {"none", "in_place",
                                                                          "copied"};

}  // namespace mpsd

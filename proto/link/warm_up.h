// WarmUp: which runs with zeros a lane makes before its first batch (worker/execute/warm_up.h).
//
// First runs are slow: libtorch optimizes code for the shapes that it sees, and a device loads its
// kernels. A worker is ready only after the warm-up.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class WarmUp {
  kAuto,  // kSmallest on the cpu, kAll elsewhere
  kNone,
  kSmallest,  // smallest bucket and batch
  kAll,       // every bucket, with the smallest and the largest batch
};

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<WarmUp> = {"auto", "none", "smallest",
                                                                     "all"};

}  // namespace mpsd

// WarmUp: which runs with zeros a lane makes before its first batch.
//
// The config's `warmup` of a model. First runs are slow: libtorch optimizes code for the shapes
// that it sees, and a device loads its kernels. A worker is ready only after the warm-up, so the
// choice is between a longer start and slow first requests. worker/execute/warm_up.h makes the
// runs.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class WarmUp {
  kAuto,      // kSmallest on the cpu, kAll elsewhere
  kNone,      // no run
  kSmallest,  // the smallest bucket and batch
  kAll,       // every bucket, at the smallest and the largest batch
};

template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<WarmUp> = {"auto", "none", "smallest",
                                                                     "all"};

}  // namespace mpsd

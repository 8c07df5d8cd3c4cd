// WarmUp: which runs a lane makes with zeros before its first batch.
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

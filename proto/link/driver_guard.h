// DriverGuard: whether a worker's threads take turns in the gpu driver's encoder methods.
//
// The driver of Apple's gpus crashes if one thread ends an encoder while another begins one
// (worker/metal). Operators read the state in `mpsd ps` and /metrics.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class DriverGuard {
  kNone,     // not needed: another device, or one stream
  kHeld,     // in place when the worker reported
  kMissing,  // needed but not in place: the worker runs one lane
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<DriverGuard> = {"none", "held",
                                                                          "missing"};

}  // namespace mpsd

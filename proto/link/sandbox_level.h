// SandboxLevel: what a worker may do besides running its model; docs/sandbox.md tells all of it.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class SandboxLevel {
  kOff,     // all that the user may
  kBasic,   // as little as the host can enforce; the worker logs what it cannot, and goes on
  kStrict,  // likewise without sockets; a worker whose host cannot enforce all of it does not start
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<SandboxLevel> = {"off", "basic",
                                                                           "strict"};

}  // namespace mpsd

// SandboxLevel: what a worker may do besides running its model (docs/sandbox.md).
//
// The worker confines itself before it opens the model's file (worker/sandbox/sandbox.h).
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class SandboxLevel {
  kOff,     // all that the user may do
  kBasic,   // denies what the host can enforce; the worker logs the rest
  kStrict,  // also denies sockets; the worker starts only if the host can enforce all
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<SandboxLevel> = {"off", "basic",
                                                                           "strict"};

}  // namespace mpsd

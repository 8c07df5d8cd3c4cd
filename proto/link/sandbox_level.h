// SandboxLevel: what a worker may do besides running its model; docs/sandbox.md has the details.
//
// The config's `sandbox`, for the daemon or one model. The worker confines itself before it opens
// the model's file (worker/sandbox/sandbox.h). A level says what is denied, and whether a host that
// cannot deny all of it is acceptable.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class SandboxLevel {
  kOff,     // everything that the user may do
  kBasic,   // as much denied as the host can enforce; the worker logs the rest and goes on
  kStrict,  // also denies sockets; the worker does not start unless the host can enforce all of it
};

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<SandboxLevel> = {"off", "basic",
                                                                           "strict"};

}  // namespace mpsd

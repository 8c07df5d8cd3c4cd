// SandboxLevel: what a worker may do besides running its model; docs/sandbox.md tells all of it.
//
// The config's `sandbox`, for the daemon or one model. The front end only passes it on in the
// LoadOrder; the worker confines itself, before it opens the model's file
// (worker/sandbox/sandbox.h). A level says two things: what is denied, and whether a host that
// cannot deny all of it is good enough.
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

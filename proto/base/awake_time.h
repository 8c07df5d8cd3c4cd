// AwakeNs: the time that Clock::Real() shows. A part of the seam to the operating system,
// implemented in platform_linux.cc and platform_macos.cc.
#pragma once

#include <cstdint>

namespace mpsd::platform {

// Nanoseconds for which this host has been awake: all its processes see the same, and it stands
// still while the host sleeps (decision 0020). It is the clock that WaitOnWord() and gRPC's timers
// count on as well. Thread-safe.
int64_t AwakeNs();

}  // namespace mpsd::platform

// AwakeNs: the time that Clock::Real() shows. A part of the seam to the operating system,
// implemented in platform_linux.cc and platform_macos.cc.
#pragma once

#include <cstdint>

namespace mpsd::platform {

// Nanoseconds for which this host has been awake: the same for every process, and standing still
// while the host sleeps (decision 0020). WaitOnWord() and gRPC's timers use the same clock.
// Thread-safe.
int64_t AwakeNs();

}  // namespace mpsd::platform

// AwakeNs: the time that Clock::Real() shows, implemented in platform_linux.cc and
// platform_macos.cc.
#pragma once

#include <cstdint>

namespace mpsd::platform {

// Nanoseconds for which this host has been awake, for every process (decision 0020). WaitOnWord()
// and gRPC's timers use the same clock. Thread-safe.
int64_t AwakeNs();

}  // namespace mpsd::platform

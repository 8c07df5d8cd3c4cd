// HoldDriverGuard: the guard of the gpu's driver, for a worker.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "proto/link/driver_guard.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// Whether threads of the worker may begin and end encoders at the same time: on mps, with a
// libtorch that has a pool of streams. In a stock libtorch the lock of its single stream is enough,
// and other devices have another driver. Pure.
bool NeedsDriverGuard(absl::string_view device, RuntimeKind kind);

// Whether the guard is in place, and why not if it is missing.
struct DriverGuardState {
  DriverGuard guard = DriverGuard::kNone;
  std::string why{};
};

// The first call of a process that needs the guard installs it for the life of the process
// (GuardMetal()). Each call checks whether the driver's methods are still the guard's. The first
// call comes before libtorch touches the device, on the main thread; the others are thread-safe.
DriverGuardState HoldDriverGuard(absl::string_view device, RuntimeKind kind);

}  // namespace mpsd

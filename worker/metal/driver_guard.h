// HoldDriverGuard: the guard of the gpu's driver, for a worker.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "proto/link/driver_guard.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// Whether threads may encode at the same time: on mps, with a libtorch that has a pool of streams.
// A stock libtorch has a lock for its single stream. Pure.
bool NeedsDriverGuard(absl::string_view device, RuntimeKind kind);

struct DriverGuardState {
  DriverGuard guard = DriverGuard::kNone;
  std::string why{};
};

// The first call that needs the guard installs it for the life of the process. Each call checks
// that the methods are still the guard's. The first call runs on the main thread, before libtorch
// touches the device; others are thread-safe.
DriverGuardState HoldDriverGuard(absl::string_view device, RuntimeKind kind);

}  // namespace mpsd

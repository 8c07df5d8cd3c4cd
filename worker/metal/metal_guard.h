// GuardMetal: the guard of this host's gpu driver. metal_guard_macos.cc and metal_guard_linux.cc
// implement it side by side.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/metal/encoder_guard.h"

namespace mpsd {

// Starts Metal with the system's default device, and guards its driver's encoder methods.
// UNIMPLEMENTED where the host has no Metal; otherwise an error says what Metal or its driver
// lacks. Called on the main thread, before any other use of the gpu.
absl::StatusOr<std::unique_ptr<EncoderGuard>> GuardMetal();

}  // namespace mpsd

// GuardMetal: the guard of this host's gpu driver.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/metal/encoder_guard.h"

namespace mpsd {

// Starts Metal with the system's default device, and guards its driver's encoder methods.
// UNIMPLEMENTED if the host has no Metal; otherwise an error says what Metal or its driver lacks.
// Called on the main thread, before any other use of the gpu.
absl::StatusOr<std::unique_ptr<EncoderGuard>> GuardMetal();

}  // namespace mpsd

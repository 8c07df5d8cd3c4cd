// GuardMetal: the guard of this host's gpu driver.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/metal/encoder_guard.h"

namespace mpsd {

// Starts Metal, and guards the driver of the default device. UNIMPLEMENTED without Metal; other
// errors say what Metal or its driver lacks. Called on the main thread, before any use of the gpu.
absl::StatusOr<std::unique_ptr<EncoderGuard>> GuardMetal();

}  // namespace mpsd

#include "worker/metal/metal_guard.h"

namespace mpsd {

absl::StatusOr<std::unique_ptr<EncoderGuard>> GuardMetal() {
  return absl::UnimplementedError("there is no Metal on this platform");
}

}  // namespace mpsd

#include "worker/metal/driver_guard.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "worker/metal/encoder_guard.h"
#include "worker/metal/metal_guard.h"

namespace mpsd {

bool NeedsDriverGuard(absl::string_view device, RuntimeKind kind) {
  return absl::StartsWith(device, "mps") && kind != RuntimeKind::kStock;
}

DriverGuardState HoldDriverGuard(absl::string_view device, RuntimeKind kind) {
  if (!NeedsDriverGuard(device, kind)) return {};
  // The driver's threads may end encoders while the process exits.
  static const auto* const guard = new absl::StatusOr<std::unique_ptr<EncoderGuard>>(GuardMetal());
  const absl::Status status = guard->ok() ? (**guard)->Verify() : guard->status();
  if (status.ok()) return {DriverGuard::kHeld};
  return {DriverGuard::kMissing, std::string(status.message())};
}

}  // namespace mpsd

#include "worker/metal/metal_guard.h"

#include <vector>

#include "worker/metal/driver_methods.h"
#include "worker/metal/metal_device.h"

namespace mpsd {

absl::StatusOr<std::unique_ptr<EncoderGuard>> GuardMetal() {
  const absl::StatusOr<MetalDevice> metal = OpenMetal();
  if (!metal.ok()) return metal.status();
  const absl::StatusOr<std::vector<EncoderMethod>> methods =
      FindEncoderMethods(metal->runtime, metal->object);
  if (!methods.ok()) return methods.status();
  return EncoderGuard::Install(metal->runtime, *methods);
}

}  // namespace mpsd

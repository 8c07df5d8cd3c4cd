#include "worker/metal/metal_device.h"

namespace mpsd {

absl::StatusOr<MetalDevice> OpenMetal() {
  return absl::UnimplementedError("there is no Metal on this platform");
}

}  // namespace mpsd

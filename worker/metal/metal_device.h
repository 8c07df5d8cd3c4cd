// OpenMetal: this host's gpu, as Metal and the Objective-C runtime show it. metal_device_macos.cc
// and metal_device_linux.cc implement it side by side.
#pragma once

#include "absl/status/statusor.h"
#include "worker/metal/objective_c.h"

namespace mpsd {

// The default device, an MTLDevice, and its runtime. Both stay for the life of the process.
struct MetalDevice {
  ObjectiveC runtime;
  ObjectiveC::Object object = nullptr;
};

// The first call starts Metal. UNIMPLEMENTED without Metal; other errors say what Metal lacks.
// Thread-safe.
absl::StatusOr<MetalDevice> OpenMetal();

// The loader's handle of Metal may be null.
absl::StatusOr<MetalDevice> OpenMetalOf(const char* objective_c, void* metal);

}  // namespace mpsd

// OpenMetal: this host's gpu, as Metal and the Objective-C runtime show it. metal_device_macos.cc
// and metal_device_linux.cc implement it side by side.
#pragma once

#include "absl/status/statusor.h"
#include "worker/metal/objective_c.h"

namespace mpsd {

// The system's default device, an MTLDevice, and the runtime for sending it messages. Plain data;
// the device and the runtime stay for the life of the process.
struct MetalDevice {
  ObjectiveC runtime;
  ObjectiveC::Object object = nullptr;
};

// Starts Metal on the first call. UNIMPLEMENTED if the host has no Metal; otherwise an error says
// what Metal lacks. Thread-safe.
absl::StatusOr<MetalDevice> OpenMetal();

// The same for known libraries: the path of Objective-C's runtime, and the loader's handle of
// Metal, null if Metal is not there.
absl::StatusOr<MetalDevice> OpenMetalOf(const char* objective_c, void* metal);

}  // namespace mpsd

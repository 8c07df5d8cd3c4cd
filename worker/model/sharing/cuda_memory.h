// cuda_memory: DeviceMemory of CUDA, by the driver's functions that map memory separately.
#pragma once

#include <memory>

#include "worker/model/sharing/device_memory.h"

namespace mpsd {

// Uses the driver that libtorch_cuda has loaded. Null if the driver lacks a function. Called on the
// main thread, once the device has a context.
std::unique_ptr<DeviceMemorySource> OpenCudaMemory(int device);

}  // namespace mpsd

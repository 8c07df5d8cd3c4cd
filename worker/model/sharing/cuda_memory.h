// cuda_memory: DeviceMemory of CUDA, by its driver's memory that is mapped apart from its making.
#pragma once

#include <memory>

#include "worker/model/sharing/device_memory.h"

namespace mpsd {

// Of the device with that number. Uses the driver that libtorch_cuda has loaded, and none of CUDA's
// headers. Null where it lacks a function. Called on the main thread, once the device's context is
// there.
std::unique_ptr<DeviceMemorySource> OpenCudaMemory(int device);

}  // namespace mpsd

// host_memory: DeviceMemory of the cpu: a memory file of the host.
#pragma once

#include <memory>

#include "worker/model/sharing/device_memory.h"

namespace mpsd {

// Only the process that made a file can write to it, and none can change its size.
std::unique_ptr<DeviceMemorySource> MakeHostMemory();

}  // namespace mpsd

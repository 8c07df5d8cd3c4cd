// host_memory: DeviceMemory of the cpu: a memory file of the host.
#pragma once

#include <memory>

#include "worker/model/sharing/device_memory.h"

namespace mpsd {

// Nobody but the process that makes a file can write to it, nor change its size.
std::unique_ptr<DeviceMemorySource> MakeHostMemory();

}  // namespace mpsd

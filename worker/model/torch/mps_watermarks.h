// MpsWatermarks: how much of the gpu's memory a process on mps may take.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// Shares of the memory that Apple recommends for its gpu, as texts for libtorch's environment.
struct MpsWatermarks {
  std::string low;   // above it libtorch gives memory back
  std::string high;  // above it allocations fail
};

// For one process of several that share the device: `share_percent` of the whole. Pure.
MpsWatermarks DivideWatermarks(uint32_t share_percent);

}  // namespace mpsd

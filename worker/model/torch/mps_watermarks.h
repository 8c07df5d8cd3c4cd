// MpsWatermarks: how much of the gpu's memory a process on mps may take.
//
// libtorch's limits on mps are shares of the whole device, so each of several workers would take
// all of it. The front end divides the device among the processes
// (LoadOrder::memory_share_percent), and TorchRuntime::SetEnvironment() hands libtorch the share,
// as two variables that libtorch reads when it first allocates. What the operator has set there
// stays.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// Shares of the memory that Apple recommends for its gpu, as texts for libtorch's environment:
// "0.75" is three quarters. Plain data.
struct MpsWatermarks {
  std::string low;   // above it libtorch gives memory back
  std::string high;  // above it allocations fail
};

// For one process of several that share the device, `share_percent` of the whole: low is 75 % of
// the share, high is 95 % of it. Shares outside of 1 to 100 are brought there. Pure.
MpsWatermarks DivideWatermarks(uint32_t share_percent);

}  // namespace mpsd

// DeviceShare: one worker's device, its part of that memory, and its cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpsd {

// Placement decides it. A worker keeps it through all incarnations and passes it on to its
// replacement. A value.
struct DeviceShare {
  std::string device = "cpu";   // never "auto"
  uint32_t memory_percent = 0;  // 0: not divided
  std::vector<uint32_t> cores;  // the worker keeps to these; empty: any

  bool operator==(const DeviceShare&) const = default;
};

}  // namespace mpsd

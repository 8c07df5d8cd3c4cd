// DeviceShare: one worker's device, the part of its memory that the worker may take, and its cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpsd {

// Placement decides it for each process of a model. A worker keeps it for life, through all
// incarnations, and so does the fresh worker that replaces it. A value.
struct DeviceShare {
  std::string device = "cpu";   // one device, never "auto"
  uint32_t memory_percent = 0;  // share of the device's memory; 0: not divided
  std::vector<uint32_t> cores;  // the ones that the worker keeps to; empty: any

  bool operator==(const DeviceShare&) const = default;
};

}  // namespace mpsd

// DeviceShare: one worker's device, and the part of its memory that the worker may take.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// Placement decides it for each process of a model. A worker keeps it for life, through all
// incarnations, and so does the fresh worker that replaces it. A value.
struct DeviceShare {
  std::string device = "cpu";   // one device, never "auto"
  uint32_t memory_percent = 0;  // share of the device's memory; 0: not divided

  bool operator==(const DeviceShare&) const = default;
};

}  // namespace mpsd

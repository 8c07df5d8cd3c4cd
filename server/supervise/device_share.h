// DeviceShare: the device of one worker, and the part of its memory that the worker may take.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// Decided by placement for each process of a model; a worker has it for life, and so have all its
// incarnations and the fresh worker that replaces it. A value.
struct DeviceShare {
  std::string device = "cpu";   // never "auto", and one device alone
  uint32_t memory_percent = 0;  // of the device's memory; 0: not divided

  bool operator==(const DeviceShare&) const = default;
};

}  // namespace mpsd

// LaneNeeds: what a lane takes while a batch runs on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mpsd {

inline constexpr size_t kMaxNeeds = 16;
inline constexpr size_t kMaxResourceLimits = 256;
inline constexpr uint32_t kMaxResourceCount = 1'000'000'000;
inline constexpr uint32_t kMaxTurnWeight = 1'000'000;
inline constexpr uint32_t kMaxDeviceWeight = 1000;
inline constexpr size_t kMaxDeviceLimits = 64;
inline constexpr uint32_t kMaxDeviceBatches = 1024;

// An amount of a resource of any meaning. Each device has its own; all share a global one. A value.
struct ResourceNeed {
  std::string name;
  uint32_t count = 1;
  bool is_global = false;

  bool operator==(const ResourceNeed&) const = default;
};

// A model's `rate_limiter`, as Triton's, or its `weight`; only one of the two applies. A value.
struct LaneNeeds {
  std::vector<ResourceNeed> resources;  // at most kMaxNeeds, with different names
  uint32_t priority = 1;                // a model with 2 has half the turns of one with 1
  uint32_t weight = 0;                  // its part of a device's lane time; 0: not shared

  bool empty() const { return resources.empty() && weight == 0; }
  bool operator==(const LaneNeeds&) const = default;
};

// The config's `resources`. Any other resource has the largest need of a single lane.
using ResourceLimits = std::map<std::string, uint32_t>;

// The config's `device_share`: batches of weighted models at once on a device. Elsewhere: the most
// lanes that one such model has there.
using DeviceLimits = std::map<std::string, uint32_t>;

}  // namespace mpsd

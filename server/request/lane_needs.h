// LaneNeeds: what a lane must have besides itself while a batch runs on it.
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

// An amount of a named resource, which can be anything to its operator: memory, a bus, the right to
// be loud. Each device has its own of that name; all devices share a global one. A value.
struct ResourceNeed {
  std::string name;
  uint32_t count = 1;
  bool is_global = false;

  bool operator==(const ResourceNeed&) const = default;
};

// A model's `rate_limiter` in the config, as Triton's, or its `weight`; only one of the two
// applies. A value.
struct LaneNeeds {
  std::vector<ResourceNeed> resources;  // at most kMaxNeeds, with different names
  uint32_t priority = 1;                // a model of 2 has half as many turns as one of 1
  uint32_t weight = 0;                  // its part of a device's lane time; 0: not shared

  bool empty() const { return resources.empty() && weight == 0; }
  bool operator==(const LaneNeeds&) const = default;
};

// Amounts of the resources in the config's `resources`. The total of any other resource is the
// largest need of any single lane.
using ResourceLimits = std::map<std::string, uint32_t>;

// How many batches of models with a weight run at once on each device in the config's
// `device_share`. On any other device, as many as the largest number of lanes that one of these
// models has there.
using DeviceLimits = std::map<std::string, uint32_t>;

}  // namespace mpsd

// LaneNeeds: what a lane must have while a batch runs on it, beside itself.
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

// So many of a named resource, which is whatever an operator takes it for: memory, a bus, the right
// to be loud. Each device has its own of that name; a global one is shared by all devices. A value.
struct ResourceNeed {
  std::string name;
  uint32_t count = 1;
  bool is_global = false;

  bool operator==(const ResourceNeed&) const = default;
};

// What the config's `rate_limiter` says of a model, as Triton's, or its `weight`: one of both has a
// say. A value.
struct LaneNeeds {
  std::vector<ResourceNeed> resources;  // at most kMaxNeeds, no two of one name
  uint32_t priority = 1;                // a model of 2 has half as many turns as one of 1
  uint32_t weight = 0;                  // its part of a device's lane time; 0: it shares none

  bool empty() const { return resources.empty() && weight == 0; }
  bool operator==(const LaneNeeds&) const = default;
};

// How much there is of each resource that the config's `resources` names. Of any other there is as
// much as the lane needs that needs the most.
using ResourceLimits = std::map<std::string, uint32_t>;

// How many batches of the models with a weight run at once on each device that the config's
// `device_share` names. On any other so many as the model of them has lanes there that has the
// most.
using DeviceLimits = std::map<std::string, uint32_t>;

}  // namespace mpsd

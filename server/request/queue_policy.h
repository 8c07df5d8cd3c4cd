// QueuePolicies: how many requests may wait, how long, and then.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/base/limits.h"
#include "proto/link/enum_names.h"

namespace mpsd {

// After a request has waited as long as allowed.
enum class TimeoutAction : uint8_t {
  kReject,  // it ends
  kDelay,   // it goes behind those of its level that have waited less
};

template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<TimeoutAction> = {"reject", "delay"};

// One priority level, from the config's `queue` or Triton's `queue_policy`. A full level refuses. A
// request's own deadline always ends it. A value.
struct QueuePolicy {
  uint32_t requests = kDefaultQueueRequests;  // limit of those without a lane
  int64_t timeout_ns = 0;                     // longest wait for a batch; 0: any
  TimeoutAction timeout_action = TimeoutAction::kReject;
  // Whether a request's "timeout" may shorten it; always if `timeout_ns` is 0.
  bool allow_timeout_override = true;

  bool operator==(const QueuePolicy&) const = default;
};

inline constexpr uint32_t kMaxPriorityLevels = 16;

// The first is served first; Triton's level 1 is levels[0]. A value.
struct QueuePolicies {
  std::vector<QueuePolicy> levels = {QueuePolicy()};  // 1 to kMaxPriorityLevels
  uint32_t default_level = 0;

  // For the parameter "priority"; the default for 0 or an unknown level.
  uint32_t LevelOf(uint64_t priority) const {
    const bool is_level = priority > 0 && priority <= levels.size();
    return is_level ? static_cast<uint32_t>(priority - 1) : default_level;
  }

  // The levels' limits together.
  uint32_t requests() const {
    uint32_t sum = 0;
    for (const QueuePolicy& level : levels) sum += level.requests;
    return sum;
  }

  bool operator==(const QueuePolicies&) const = default;
};

}  // namespace mpsd

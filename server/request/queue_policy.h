// QueuePolicies: how many requests of each priority may wait, how long, and what then.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/base/limits.h"
#include "proto/link/enum_names.h"

namespace mpsd {

// The fate of a request that has waited as long as its policy allows.
enum class TimeoutAction : uint8_t {
  kReject,  // it ends
  kDelay,   // it goes behind those of its level that have waited less
};

template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<TimeoutAction> = {"reject", "delay"};

// The policy for one priority level, from the config's `queue` or Triton's `queue_policy`. A
// request that finds its level full is refused. One that waits too long meets `timeout_action`; a
// request's own deadline always ends it. A value.
struct QueuePolicy {
  uint32_t requests = kDefaultQueueRequests;  // limit of those without a lane
  int64_t timeout_ns = 0;                     // longest wait for a batch; 0: any
  TimeoutAction timeout_action = TimeoutAction::kReject;
  // The parameter "timeout" of a request may shorten its wait. Without `timeout_ns` it always may.
  bool allow_timeout_override = true;

  bool operator==(const QueuePolicy&) const = default;
};

inline constexpr uint32_t kMaxPriorityLevels = 16;

// One model's levels; the first is served first. A value. Level 1 of Triton's users is levels[0].
struct QueuePolicies {
  std::vector<QueuePolicy> levels = {QueuePolicy()};  // 1 to kMaxPriorityLevels
  uint32_t default_level = 0;                         // an index of `levels`

  // The level for a request's parameter "priority"; the default for 0 or an unknown level.
  uint32_t LevelOf(uint64_t priority) const {
    const bool is_level = priority > 0 && priority <= levels.size();
    return is_level ? static_cast<uint32_t>(priority - 1) : default_level;
  }

  // Limit over all levels together.
  uint32_t requests() const {
    uint32_t sum = 0;
    for (const QueuePolicy& level : levels) sum += level.requests;
    return sum;
  }

  bool operator==(const QueuePolicies&) const = default;
};

}  // namespace mpsd

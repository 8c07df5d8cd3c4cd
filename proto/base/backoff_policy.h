// backoff_policy: when a dead worker is started again. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

inline constexpr int64_t kFirstBackoffNs = 100 * kNsPerMs;
inline constexpr int64_t kLastBackoffNs = 30 * kNsPerSecond;

// The wait before the next start after `failures` deaths in a row, none of them after good service.
// The first restart is immediate; then the wait is 100 ms and doubles up to 30 s. `jitter`, in [0,
// 1), takes off up to a quarter, so that workers do not restart in step.
inline int64_t BackoffNs(uint32_t failures, double jitter) {
  if (failures <= 1) return 0;
  const uint32_t doublings = std::min<uint32_t>(failures - 2, 20);
  const int64_t wait_ns = std::min(kFirstBackoffNs << doublings, kLastBackoffNs);
  return wait_ns - static_cast<int64_t>(static_cast<double>(wait_ns) * jitter / 4);
}

// A worker that has served this long starts with no deaths counted against it.
inline constexpr int64_t kGoodServiceNs = 10 * kNsPerSecond;

}  // namespace mpsd

// When a dead worker is started again. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

inline constexpr int64_t kFirstBackoffNs = 100 * kNsPerMs;
inline constexpr int64_t kLastBackoffNs = 30 * kNsPerSecond;

// The wait before the next start after `failures` deaths in a row, of which none followed a time of
// good service: none before the first restart, then 100 ms doubling to 30 s, less up to a quarter
// by `jitter` in [0, 1).
inline int64_t BackoffNs(uint32_t failures, double jitter) {
  if (failures <= 1) return 0;
  const uint32_t doublings = std::min<uint32_t>(failures - 2, 20);
  const int64_t wait_ns = std::min(kFirstBackoffNs << doublings, kLastBackoffNs);
  return wait_ns - static_cast<int64_t>(static_cast<double>(wait_ns) * jitter / 4);
}

// A worker that has served this long has put its deaths behind it.
inline constexpr int64_t kGoodServiceNs = 10 * kNsPerSecond;

}  // namespace mpsd

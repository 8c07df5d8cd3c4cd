// backoff_policy: when a dead child process is started again. Pure.
//
// For every process that the front end keeps alive. The owner counts deaths in a row, and resets
// the count after good service:
//
//   deaths in a row   1     2        3        4        …   10       11 and more
//   wait              0     100 ms   200 ms   400 ms   …   25.6 s   30 s
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

inline constexpr int64_t kFirstBackoffNs = 100 * kNsPerMs;
inline constexpr int64_t kLastBackoffNs = 30 * kNsPerSecond;

// The first restart is immediate, because most deaths are isolated. `jitter`, in [0, 1), shortens
// the wait by up to a quarter: workers that died together do not restart together. Pass 0 for a
// single process.
inline int64_t BackoffNs(uint32_t failures, double jitter) {
  if (failures <= 1) return 0;
  const uint32_t doublings = std::min<uint32_t>(failures - 2, 20);
  const int64_t wait_ns = std::min(kFirstBackoffNs << doublings, kLastBackoffNs);
  return wait_ns - static_cast<int64_t>(static_cast<double>(wait_ns) * jitter / 4);
}

// After longer service a death counts as the first in a row.
inline constexpr int64_t kGoodServiceNs = 10 * kNsPerSecond;

}  // namespace mpsd

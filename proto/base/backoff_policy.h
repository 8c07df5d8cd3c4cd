// backoff_policy: when a dead child process is started again. Pure.
//
// The same rule for every process that the front end keeps alive: workers (server/supervise), the
// device copier (server/regions/device) and CUDA's Multi-Process Service
// (server/supervise/process). The owner counts deaths in a row, asks how long to wait, and begins
// to count anew after good service. A process that dies at once, again and again, so costs one
// start every 30 seconds:
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

// The wait before the next start after `failures` deaths in a row, none of them after good service.
// The first restart is immediate: most deaths are the only one. `jitter`, in [0, 1), takes off up
// to a quarter, so that workers which died together do not restart in step; 0 where there is one
// process.
inline int64_t BackoffNs(uint32_t failures, double jitter) {
  if (failures <= 1) return 0;
  const uint32_t doublings = std::min<uint32_t>(failures - 2, 20);
  const int64_t wait_ns = std::min(kFirstBackoffNs << doublings, kLastBackoffNs);
  return wait_ns - static_cast<int64_t>(static_cast<double>(wait_ns) * jitter / 4);
}

// Good service: a process that dies after it has served longer than this has its death counted as
// the first in a row.
inline constexpr int64_t kGoodServiceNs = 10 * kNsPerSecond;

}  // namespace mpsd

// HeapTrimmer: returns the heap's freed memory in quiet moments.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "server/telemetry/log/log.h"
#include "server/trim_policy.h"

namespace mpsd {

// Lives on the thread `main`, which is idle while the daemon serves and looks every kLookNs. A
// request that coincides with a trim may wait some milliseconds. Workers need none: their large
// memory is shared memory. Owned by the daemon.
class HeapTrimmer {
 public:
  static constexpr int64_t kLookNs = kNsPerSecond;

  // Both outlive it. REQUIRES: no requests are taken yet.
  HeapTrimmer(const Clock* clock, Logger* logger);

  // Trims if TrimPolicy says so. `inside` counts the daemon's requests.
  void Look(int64_t inside);

 private:
  const Clock* const clock_;
  Logger* const logger_;
  TrimPolicy policy_;
};

}  // namespace mpsd

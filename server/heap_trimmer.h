// HeapTrimmer: returns the heap's freed memory in quiet moments.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "server/telemetry/log/log.h"
#include "server/trim_policy.h"

namespace mpsd {

// Owned by the daemon. Lives on the thread `main`, which is idle while the daemon serves, and looks
// once every kLookNs. Beside the request's path; a request that coincides with a trim may wait some
// milliseconds for the allocator. Only the front end needs it: a worker's large memory is shared
// memory, which its owner returns. Cannot fail.
class HeapTrimmer {
 public:
  static constexpr int64_t kLookNs = kNsPerSecond;

  // Both outlive it. REQUIRES: the daemon takes no requests yet.
  HeapTrimmer(const Clock* clock, Logger* logger);

  // Trims the heap if TrimPolicy says so, and logs the result. The daemon has `inside` requests.
  void Look(int64_t inside);

 private:
  const Clock* const clock_;
  Logger* const logger_;
  TrimPolicy policy_;
};

}  // namespace mpsd

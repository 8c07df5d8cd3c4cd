// HeapTrimmer: gives the heap's freed memory back in quiet moments.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "server/telemetry/log/log.h"
#include "server/trim_policy.h"

namespace mpsd {

// Owned by the daemon. Lives on the thread `main`, which has nothing else to do while the daemon
// serves, and looks once every kLookNs. Beside the request's path; a request that comes in the very
// moment of a trim may wait for the allocator some milliseconds. Only the front end needs it: a
// worker's large memory is shared memory, which its owner gives back. Cannot fail.
class HeapTrimmer {
 public:
  static constexpr int64_t kLookNs = kNsPerSecond;

  // Both outlive it. REQUIRES: the daemon takes no requests yet.
  HeapTrimmer(const Clock* clock, Logger* logger);

  // Trims the heap if TrimPolicy says so, and logs what that returned. `inside` is how many
  // requests the daemon has.
  void Look(int64_t inside);

 private:
  const Clock* const clock_;
  Logger* const logger_;
  TrimPolicy policy_;
};

}  // namespace mpsd

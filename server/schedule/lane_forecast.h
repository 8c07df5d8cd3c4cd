// ExpectedFreeNs: when a lane is expected to have run all that it has.
#pragma once

#include <cstdint>

#include "server/schedule/scheduler.h"

namespace mpsd {

// A lane that is late is expected to take as long again as it is late: one that hangs is not taken
// for one that is free in a moment, and the longer it hangs the less. Pure.
inline int64_t ExpectedFreeNs(const LaneView& lane, int64_t now_ns) {
  if (lane.batches == 0) return now_ns;
  const int64_t left_ns = lane.free_at_ns - now_ns;
  return now_ns + (left_ns >= 0 ? left_ns : -left_ns);
}

}  // namespace mpsd

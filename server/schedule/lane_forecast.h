// What is expected of a lane that has batches: when it has run them, and whether it still will.
#pragma once

#include <algorithm>
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

// For how long a batch on that lane is expected to wait for its turn, once the lane is free. Where
// one waits already that is what is left; a turn that is late is expected to take as long again.
// Pure.
inline int64_t ExpectedTurnNs(const LaneView& lane, const WorkerView& worker, int64_t now_ns) {
  if (lane.batches > 0 || worker.turn_since_ns == 0) return worker.turn_ns;
  const int64_t left_ns = worker.turn_since_ns + worker.turn_ns - now_ns;
  return left_ns >= 0 ? left_ns : -left_ns;
}

// A host may hold up any lane for so long: that does not look like a hang.
inline constexpr int64_t kHeldUpNs = 20'000'000;

// The lane is late by as much as its last batch should have taken: nothing more is bound to it, and
// nobody counts on it, until it answers. Pure.
inline bool MayHang(const LaneView& lane, int64_t now_ns) {
  if (lane.batches == 0 || lane.expected_ns == 0) return false;
  return now_ns - lane.free_at_ns > std::max(lane.expected_ns, kHeldUpNs);
}

}  // namespace mpsd

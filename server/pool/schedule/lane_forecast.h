// LaneForecast: when a lane is expected to have run its batches, and whether it may hang.
#pragma once

#include <algorithm>
#include <cstdint>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// A late lane is expected to take as long again as it is late. Pure.
inline int64_t ExpectedFreeNs(const LaneView& lane, int64_t now_ns) {
  if (lane.batches == 0) return now_ns;
  const int64_t left_ns = lane.free_at_ns - now_ns;
  return now_ns + (left_ns >= 0 ? left_ns : -left_ns);
}

// How long the lane's next batch waits for its turn; a late turn is expected to take as long again.
// Pure.
inline int64_t ExpectedTurnNs(const LaneView& lane, const WorkerView& worker, int64_t now_ns) {
  if (lane.batches > 0 || worker.turn_since_ns == 0) return worker.turn_ns;
  const int64_t left_ns = worker.turn_since_ns + worker.turn_ns - now_ns;
  return left_ns >= 0 ? left_ns : -left_ns;
}

// A host may hold up any lane this long.
inline constexpr int64_t kHeldUpNs = 20'000'000;

// Whether the lane is late by as much as its last batch should have taken. Pure.
inline bool MayHang(const LaneView& lane, int64_t now_ns) {
  if (lane.batches == 0 || lane.expected_ns == 0) return false;
  return now_ns - lane.free_at_ns > std::max(lane.expected_ns, kHeldUpNs);
}

}  // namespace mpsd

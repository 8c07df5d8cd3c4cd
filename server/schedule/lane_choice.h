// ChooseLane: which lane gets the next batch, if one has room.
#pragma once

#include <cstdint>
#include <optional>

#include "server/schedule/scheduler.h"

namespace mpsd {

// A worker that gets nothing else, for it is slow (Slowness) or the others suffice, gets every
// kProbeEvery-th batch of its pool, so that it is known what it takes, and seen when it recovers.
// SlowWorkers has it come sooner where that is not known yet, or where it recovers.
inline constexpr uint32_t kProbeEvery = 128;

// Lanes with room for a batch. One that may hang (MayHang) has none.
struct LaneChoice {
  std::optional<uint32_t> lane;  // of a worker that is not passed over
  // Idle, of one that is passed over, where `lane` is none or has a batch already.
  std::optional<uint32_t> slow_lane;

  bool has_room() const { return lane.has_value() || slow_lane.has_value(); }
};

// Of the lanes with room: the one with the fewest batches; of these the one that is expected to be
// free first (ExpectedFreeNs); of these that of the worker which has the least left to do, as far
// as that is known, and then the fewest batches. A worker that has nothing to do and is due for a
// probe goes before all. Pure; it walks the lanes once.
LaneChoice ChooseLane(const SchedulerSnapshot& snapshot, uint32_t lane_depth, int64_t now_ns);

// When the head of the line should run on that idle lane of a slow worker, in a batch of at most
// `most_rows` rows: now, if all that wait in the line would be answered later by the lanes that are
// not slow, and the head's answer is not too late for it; at a later time, if one of those lanes
// should be free before that, unless it hangs; or SchedulerDecision::kNever. Pure.
int64_t UseSlowLaneAtNs(const SchedulerSnapshot& snapshot, const LineView& line, uint32_t slow_lane,
                        uint32_t most_rows, int64_t now_ns);

}  // namespace mpsd

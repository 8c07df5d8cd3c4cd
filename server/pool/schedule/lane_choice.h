// ChooseLane: which lane gets the next batch, if one has room.
#pragma once

#include <cstdint>
#include <optional>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// Every kProbeEvery-th batch of a pool goes to a worker that gets no other, so that its recovery is
// seen.
inline constexpr uint32_t kProbeEvery = 128;

struct LaneChoice {
  std::optional<uint32_t> lane;  // on a worker that is not passed over
  // An idle lane of a worker that is passed over, if `lane` is none or has a batch.
  std::optional<uint32_t> slow_lane;

  bool has_room() const { return lane.has_value() || slow_lane.has_value(); }
};

// An idle worker that is due for a probe goes first. Then the lane with the fewest batches, then
// the one free first (ExpectedFreeNs), then the one whose worker has the least left to do. A lane
// that may hang (MayHang) has no room, nor has one whose worker has none for outputs. Pure.
LaneChoice ChooseLane(const SchedulerSnapshot& snapshot, uint32_t lane_depth, int64_t now_ns);

// When the line's head should run on that idle lane of a slow worker. Now, if the usual lanes would
// answer every waiting request later, and the head's answer is in time. At a later time, if a usual
// lane should be free before then but might hang. SchedulerDecision::kNever otherwise. Pure.
int64_t UseSlowLaneAtNs(const SchedulerSnapshot& snapshot, const LineView& line, uint32_t slow_lane,
                        uint32_t most_rows, int64_t now_ns);

}  // namespace mpsd

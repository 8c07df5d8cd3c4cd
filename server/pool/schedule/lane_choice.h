// ChooseLane: which lane gets the next batch, if one has room.
#pragma once

#include <cstdint>
#include <optional>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// Every kProbeEvery-th batch of a pool goes to a worker that gets no other, because it is slow
// (Slowness) or the others suffice. So its speed stays known, and its recovery is seen. SlowWorkers
// sends it batches sooner if its speed is unknown or it recovers.
inline constexpr uint32_t kProbeEvery = 128;

// Lanes with room for a batch; a lane that may hang (MayHang) has none.
struct LaneChoice {
  std::optional<uint32_t> lane;  // on a worker that is not passed over
  // An idle lane of a worker that is passed over, if `lane` is none or has a batch.
  std::optional<uint32_t> slow_lane;

  bool has_room() const { return lane.has_value() || slow_lane.has_value(); }
};

// Chooses among the lanes with room. The lane with the fewest batches comes first. Then the one
// that is expected to be free first (ExpectedFreeNs). Then the one whose worker has the least left
// to do, as far as that is known, and then the fewest batches. An idle worker that is due for a
// probe goes before all. Pure; it walks the lanes once.
LaneChoice ChooseLane(const SchedulerSnapshot& snapshot, uint32_t lane_depth, int64_t now_ns);

// When the head of the line should run on that idle lane of a slow worker, in a batch of at most
// `most_rows` rows. Now, if the usual lanes would answer every waiting request later, and the
// head's answer is in time. At a later time, if a usual lane should be free before then but might
// hang. SchedulerDecision::kNever otherwise. Pure.
int64_t UseSlowLaneAtNs(const SchedulerSnapshot& snapshot, const LineView& line, uint32_t slow_lane,
                        uint32_t most_rows, int64_t now_ns);

}  // namespace mpsd

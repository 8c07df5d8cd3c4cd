// PinnedScheduler: each line runs on the one lane that it is bound to.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "server/pool/schedule/predictive_scheduler.h"
#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// For a pool of sequences. A PredictiveScheduler decides for each lane and each of its lines as if
// there were no others; then the line that it would prefer goes first. A free lane never waits for
// clients that are expected back: their requests may be bound to other lanes.
//
// REQUIRES: there are no suspects. Thread-safe: it has no state.
class PinnedScheduler final : public Scheduler {
 public:
  PinnedScheduler(uint32_t lane_depth, int64_t max_delay_ns, std::vector<uint32_t> preferred_rows)
      : one_(lane_depth, max_delay_ns, std::move(preferred_rows)) {}

  SchedulerDecision Decide(const SchedulerSnapshot& snapshot, int64_t now_ns) const override;

 private:
  SchedulerDecision DecideOne(const SchedulerSnapshot& snapshot, uint32_t line, uint32_t lane,
                              int64_t now_ns) const;

  const PredictiveScheduler one_;
};

}  // namespace mpsd

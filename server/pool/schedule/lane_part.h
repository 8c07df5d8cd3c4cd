// LanePart: the part of a snapshot about one lane.
#pragma once

#include <cstdint>

#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// For requests with a pin: a snapshot of their lane and its worker, both with index 0, and all
// lines. A slow worker is as good as any, since the requests have no other. Lives on the stack.
class LanePart {
 public:
  // The whole outlives the part.
  LanePart(const SchedulerSnapshot& whole, uint32_t lane)
      : whole_(whole), lane_(whole.lanes[lane]), worker_(whole.workers[lane_.worker]) {
    lane_.worker = 0;
    worker_.first_lane = 0;
    worker_.slowness = 1;
  }
  LanePart(const LanePart&) = delete;
  LanePart& operator=(const LanePart&) = delete;

  // Points into the part.
  SchedulerSnapshot Snapshot() const {
    SchedulerSnapshot part = whole_;
    part.lanes = {&lane_, 1};
    part.workers = {&worker_, 1};
    return part;
  }

 private:
  const SchedulerSnapshot& whole_;
  LaneView lane_;
  WorkerView worker_;
};

}  // namespace mpsd

// LanePart: the part of a snapshot that concerns one lane.
#pragma once

#include <cstdint>

#include "server/schedule/scheduler.h"

namespace mpsd {

// For requests with a pin, which one lane alone may run: a snapshot of that lane and its worker,
// with all lines of the whole. The lane and the worker have the index 0 there. A slow worker is as
// good as any: the requests have no other. Lives on the stack of who decides. Pure.
class LanePart {
 public:
  // Of the lane of that index. The whole outlives the part.
  LanePart(const SchedulerSnapshot& whole, uint32_t lane)
      : whole_(whole), lane_(whole.lanes[lane]), worker_(whole.workers[lane_.worker]) {
    lane_.worker = 0;
    worker_.first_lane = 0;
    worker_.slowness = 1;
  }
  LanePart(const LanePart&) = delete;
  LanePart& operator=(const LanePart&) = delete;

  // Points into this.
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

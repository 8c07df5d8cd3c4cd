#include "server/schedule/pinned_scheduler.h"

#include <algorithm>

namespace mpsd {

// A snapshot of one line, one lane and its worker; the decision names them by 0. A slow worker is
// as good as any here: a request with a pin has no other.
SchedulerDecision PinnedScheduler::DecideOne(const SchedulerSnapshot& snapshot, uint32_t line,
                                             uint32_t lane, int64_t now_ns) const {
  LaneView only_lane = snapshot.lanes[lane];
  WorkerView only_worker = snapshot.workers[only_lane.worker];
  only_lane.worker = 0;
  only_worker.first_lane = 0;
  only_worker.slowness = 1;
  SchedulerSnapshot part = snapshot;
  part.lines = snapshot.lines.subspan(line, 1);
  part.lanes = {&only_lane, 1};
  part.workers = {&only_worker, 1};
  part.suspects = LineView();
  part.returns = ExpectedReturns();
  SchedulerDecision decision = one_.Decide(part, now_ns);
  decision.line = line;
  if (decision.step == SchedulerDecision::Step::kRun) decision.lane = lane;
  return decision;
}

SchedulerDecision PinnedScheduler::Decide(const SchedulerSnapshot& snapshot, int64_t now_ns) const {
  int64_t next_ns = SchedulerDecision::kNever;
  for (uint32_t lane = 0; lane < snapshot.lanes.size(); ++lane) {
    if (!snapshot.workers[snapshot.lanes[lane].worker].has_output_room) continue;
    SchedulerDecision best;
    for (uint32_t line = 0; line < snapshot.lines.size(); ++line) {
      const LineView& view = snapshot.lines[line];
      if (view.empty() || view.pin != snapshot.lanes[lane].pin) continue;
      const SchedulerDecision decision = DecideOne(snapshot, line, lane, now_ns);
      if (decision.step == SchedulerDecision::Step::kWait) {
        next_ns = std::min(next_ns, decision.at_ns);
      } else if (best.step == SchedulerDecision::Step::kWait ||
                 IsServedBefore(view, snapshot.lines[best.line])) {
        best = decision;
      }
    }
    if (best.step != SchedulerDecision::Step::kWait) return best;
  }
  return SchedulerDecision::WaitUntil(next_ns);
}

}  // namespace mpsd

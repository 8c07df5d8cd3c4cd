#include "server/pool/schedule/pinned_scheduler.h"

#include <algorithm>

#include "server/pool/schedule/lane_part.h"

namespace mpsd {

// Snapshot and decision of one line, one lane and its worker, all with index 0.
SchedulerDecision PinnedScheduler::DecideOne(const SchedulerSnapshot& snapshot, uint32_t line,
                                             uint32_t lane, int64_t now_ns) const {
  const LanePart only(snapshot, lane);
  SchedulerSnapshot part = only.Snapshot();
  part.lines = snapshot.lines.subspan(line, 1);
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

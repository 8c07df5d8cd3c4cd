#include "server/schedule/eager_scheduler.h"

#include <algorithm>

namespace mpsd {
namespace {

// The worker that is kept for suspects, or the one with the fewest batches when there is none.
std::optional<uint32_t> WorkerForSuspects(absl::Span<const WorkerView> workers) {
  std::optional<uint32_t> idlest;
  for (uint32_t i = 0; i < workers.size(); ++i) {
    if (!workers[i].takes_batches) continue;
    if (workers[i].kept) return i;
    if (!idlest.has_value() || workers[i].batches < workers[*idlest].batches) idlest = i;
  }
  return idlest;
}

bool IsKept(const WorkerView& worker, bool suspects_wait) {
  return worker.kept && (suspects_wait || worker.batches > 0);
}

}  // namespace

SchedulerDecision EagerScheduler::Decide(const SchedulerSnapshot& snapshot, int64_t now_ns) const {
  if (!snapshot.suspects.empty()) {
    const std::optional<SchedulerDecision> decision = DecideSuspects(snapshot, now_ns);
    if (decision.has_value()) return *decision;
  }
  const std::optional<uint32_t> lane = FreeLane(snapshot);
  if (!lane.has_value()) return SchedulerDecision::WaitUntil(SchedulerDecision::kNever);
  int64_t next_due_ns = SchedulerDecision::kNever;
  std::optional<uint32_t> earliest;
  for (uint32_t i = 0; i < snapshot.lines.size(); ++i) {
    const LineView& line = snapshot.lines[i];
    if (line.empty()) continue;
    const int64_t due_ns = DueNs(line, snapshot.max_batch_rows);
    next_due_ns = std::min(next_due_ns, due_ns);
    if (due_ns > now_ns) continue;
    if (!earliest.has_value() ||
        line.head_deadline_ns < snapshot.lines[*earliest].head_deadline_ns) {
      earliest = i;
    }
  }
  if (!earliest.has_value()) return SchedulerDecision::WaitUntil(next_due_ns);
  if (snapshot.lines[*earliest].head_deadline_ns <= now_ns) {
    return SchedulerDecision::Drop(*earliest, now_ns);
  }
  return SchedulerDecision::Run(*earliest, *lane, snapshot.max_batch_rows);
}

std::optional<SchedulerDecision> EagerScheduler::DecideSuspects(const SchedulerSnapshot& snapshot,
                                                                int64_t now_ns) const {
  const std::optional<uint32_t> index = WorkerForSuspects(snapshot.workers);
  if (!index.has_value()) return std::nullopt;
  const WorkerView& worker = snapshot.workers[*index];
  if (!worker.kept) return SchedulerDecision::KeepWorker(*index);
  if (worker.batches > 0 || !worker.has_output_room) return std::nullopt;
  constexpr uint32_t kSuspects = SchedulerDecision::kSuspects;
  if (snapshot.suspects.head_deadline_ns <= now_ns) {
    return SchedulerDecision::Drop(kSuspects, now_ns);
  }
  return SchedulerDecision::Run(kSuspects, worker.first_lane, snapshot.max_batch_rows);
}

std::optional<uint32_t> EagerScheduler::FreeLane(const SchedulerSnapshot& snapshot) const {
  const auto load = [&snapshot](const LaneView& lane) {
    return std::pair(lane.batches, snapshot.workers[lane.worker].batches);
  };
  std::optional<uint32_t> best;
  for (uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneView& lane = snapshot.lanes[i];
    const WorkerView& worker = snapshot.workers[lane.worker];
    if (!worker.takes_batches || IsKept(worker, !snapshot.suspects.empty())) continue;
    if (lane.batches >= lane_depth_) continue;
    if (!best.has_value() || load(lane) < load(snapshot.lanes[*best])) best = i;
  }
  return best;
}

int64_t EagerScheduler::DueNs(const LineView& line, uint32_t max_batch_rows) const {
  if (max_delay_ns_ == 0 || line.rows >= max_batch_rows) {
    return std::numeric_limits<int64_t>::min();
  }
  return line.head_arrival_ns + max_delay_ns_;
}

}  // namespace mpsd

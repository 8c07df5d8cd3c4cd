#include "server/pool/schedule/predictive_scheduler.h"

#include <algorithm>
#include <tuple>

#include "server/pool/schedule/batch_size_policy.h"
#include "server/pool/schedule/lane_forecast.h"
#include "server/pool/schedule/lane_steps.h"

namespace mpsd {
namespace {

// The worker kept for suspects, else the one with the fewest batches. One that cannot hold the
// head's answer is chosen only if none can.
std::optional<uint32_t> WorkerForSuspects(absl::Span<const WorkerView> workers,
                                          uint64_t output_bytes) {
  const auto can_hold = [output_bytes](const WorkerView& worker) {
    return worker.takes_batches && worker.largest_lease_bytes >= output_bytes;
  };
  const bool one_can = std::any_of(workers.begin(), workers.end(), can_hold);
  std::optional<uint32_t> idlest;
  for (uint32_t i = 0; i < workers.size(); ++i) {
    if (!workers[i].takes_batches || (one_can && !can_hold(workers[i]))) continue;
    if (workers[i].kept) return i;
    if (!idlest.has_value() || workers[i].batches < workers[*idlest].batches) idlest = i;
  }
  return idlest;
}

bool SuspectRuns(absl::Span<const WorkerView> workers) {
  return std::any_of(workers.begin(), workers.end(), [](const WorkerView& worker) {
    return worker.takes_batches && worker.kept && worker.batches > 0;
  });
}

bool IsOnlyLine(const SchedulerSnapshot& snapshot, const LineView& line) {
  const auto is_other = [&line](const LineView& other) {
    return !other.empty() && &other != &line;
  };
  return std::none_of(snapshot.lines.begin(), snapshot.lines.end(), is_other);
}

// A wait must bring this multiple of its cost, because forecasts err.
constexpr double kLeastGain = 1.05;

bool IsFaster(uint32_t after, double after_ns, uint32_t before, double before_ns) {
  return after * before_ns > kLeastGain * before * after_ns;
}

// Whether `more` requests together, after a wait, are answered faster than `rows` at once, and
// faster than in two halves that take turns. One half runs while the clients of the other come
// back. A size that was never seen counts with its least time, so that it is tried.
bool PaysToGrow(const LineView& line, uint32_t rows, uint32_t more, double wait_ns,
                const ExpectedReturns& returns) {
  const auto more_ns = static_cast<double>(line.curve->LeastNs(more));
  const auto at_once_ns = static_cast<double>(line.curve->MeanNs(rows));
  if (!IsFaster(more, wait_ns + more_ns, rows, at_once_ns)) return false;
  const uint32_t half = (more + 1) / 2;
  const auto half_ns = static_cast<double>(line.curve->MeanNs(half));
  const auto round_ns = static_cast<double>(returns.RoundNs(more));
  return IsFaster(more, round_ns + more_ns, half, half_ns);
}

// The latest start for the head: in time for its answer even if the forecast errs by a tenth of the
// head's whole time.
int64_t LastStartNs(const LineView& line, uint32_t most_rows) {
  const int64_t wait_ns = line.head_deadline_ns - line.head_arrival_ns;
  const int64_t by_wait_ns = line.head_deadline_ns - wait_ns / 10;
  if (!IsKnown(line.curve)) return by_wait_ns;
  const int64_t answer_ns = line.head_answer_deadline_ns - line.head_arrival_ns;
  const uint32_t rows = std::min(line.all_rows(), most_rows);
  return std::min(by_wait_ns,
                  line.head_answer_deadline_ns - answer_ns / 10 - line.curve->LateNs(rows));
}

}  // namespace

SchedulerDecision PredictiveScheduler::Decide(const SchedulerSnapshot& snapshot,
                                              int64_t now_ns) const {
  if (!snapshot.suspects.empty()) {
    const std::optional<SchedulerDecision> decision = DecideSuspects(snapshot, now_ns);
    if (decision.has_value()) return *decision;
  }
  const LaneChoice choice = ChooseLane(snapshot, lane_depth_, now_ns);
  if (!choice.has_room()) return SchedulerDecision::WaitUntil(SchedulerDecision::kNever);
  int64_t next_due_ns = SchedulerDecision::kNever;
  std::optional<uint32_t> first;
  for (uint32_t i = 0; i < snapshot.lines.size(); ++i) {
    const LineView& line = snapshot.lines[i];
    if (line.empty()) continue;
    const int64_t due_ns = DueNs(line, snapshot.MostRowsOf(line));
    next_due_ns = std::min(next_due_ns, due_ns);
    if (due_ns > now_ns) continue;
    if (!first.has_value() || IsServedBefore(line, snapshot.lines[*first])) first = i;
  }
  if (!first.has_value()) return SchedulerDecision::WaitUntil(next_due_ns);
  return RunLine(snapshot, *first, choice, now_ns);
}

SchedulerDecision PredictiveScheduler::RunLine(const SchedulerSnapshot& snapshot, uint32_t index,
                                               const LaneChoice& choice, int64_t now_ns) const {
  const LineView& line = snapshot.lines[index];
  if (line.head_deadline_ns <= now_ns) return SchedulerDecision::Drop(index, now_ns, line.rank);
  if (line.later_deadline_ns <= now_ns) {
    return SchedulerDecision::Drop(index, now_ns, line.later_rank);
  }
  const auto run_usually = [&] {
    if (!choice.lane.has_value()) return SchedulerDecision::WaitUntil(SchedulerDecision::kNever);
    return RunLineOn(snapshot, index, *choice.lane, now_ns);
  };
  if (!choice.slow_lane.has_value()) return run_usually();
  const uint32_t most_rows = MostRows(snapshot, line);
  const int64_t slow_at_ns = UseSlowLaneAtNs(snapshot, line, *choice.slow_lane, most_rows, now_ns);
  if (slow_at_ns <= now_ns) {
    return SchedulerDecision::Run(index, *choice.slow_lane, AsPreferred(line, most_rows, now_ns));
  }
  SchedulerDecision decision = run_usually();
  if (decision.step == SchedulerDecision::Step::kWait) {
    decision.at_ns = std::min(decision.at_ns, slow_at_ns);
  }
  return decision;
}

SchedulerDecision PredictiveScheduler::RunLineOn(const SchedulerSnapshot& snapshot, uint32_t index,
                                                 uint32_t lane, int64_t now_ns) const {
  const LineView& line = snapshot.lines[index];
  const uint32_t most_rows = MostRows(snapshot, line);
  const bool is_busy = snapshot.lanes[lane].batches > 0;
  if (is_busy && line.all_rows() < most_rows) {
    return SchedulerDecision::WaitUntil(SchedulerDecision::kNever);
  }
  if (PaysToWait(snapshot, line, most_rows, lane, now_ns)) {
    return SchedulerDecision::WaitUntil(snapshot.returns.by_ns);
  }
  if (!IsKnown(line.curve)) {
    const uint32_t rows = AsPreferred(line, most_rows, now_ns);
    return SchedulerDecision::Run(index, lane, rows);
  }
  if (!is_busy && KeepsStep(snapshot, line, most_rows)) {
    const int64_t step_ns = NextStepNs(snapshot, line, now_ns);
    if (step_ns > now_ns) return SchedulerDecision::WaitUntil(step_ns);
  }
  const int64_t start_ns = ExpectedFreeNs(snapshot.lanes[lane], now_ns);
  const SizeChoice choice = ChooseSize(line, most_rows, start_ns);
  if (is_busy && choice.rows < most_rows) {
    return SchedulerDecision::WaitUntil(SchedulerDecision::kNever);
  }
  if (choice.drop_until_ns > 0) {
    return SchedulerDecision::Drop(index, choice.drop_until_ns, choice.drop_rank);
  }
  return SchedulerDecision::Run(index, lane, AsPreferred(line, choice.rows, now_ns));
}

// A batch that pays is full, so a busy lane's next batch need not be larger.
uint32_t PredictiveScheduler::MostRows(const SchedulerSnapshot& snapshot,
                                       const LineView& line) const {
  const uint32_t most_rows = snapshot.MostRowsOf(line);
  const bool is_told = max_delay_ns_ > 0 || !preferred_rows_.empty();
  if (is_told || !IsKnown(line.curve)) return most_rows;
  return std::max(line.head_rows, PayingRows(*line.curve, most_rows));
}

uint32_t PredictiveScheduler::AsPreferred(const LineView& line, uint32_t rows,
                                          int64_t now_ns) const {
  if (max_delay_ns_ > 0 && now_ns >= line.head_arrival_ns + max_delay_ns_) return rows;
  const uint32_t filled = std::min(rows, line.all_rows());
  const auto beyond = std::upper_bound(preferred_rows_.begin(), preferred_rows_.end(), filled);
  if (beyond == preferred_rows_.begin() || *(beyond - 1) < line.head_rows) return rows;
  return *(beyond - 1);
}

// Waits for all expected clients, or for one more if a request is alone.
bool PredictiveScheduler::PaysToWait(const SchedulerSnapshot& snapshot, const LineView& line,
                                     uint32_t most_rows, uint32_t lane, int64_t now_ns) const {
  const ExpectedReturns& returns = snapshot.returns;
  if (max_delay_ns_ > 0 || returns.requests == 0 || returns.by_ns <= now_ns) return false;
  if (!IsKnown(line.curve) || line.all_rows() >= most_rows) return false;
  if (!IsOnlyLine(snapshot, line) || HasOtherFreeLane(snapshot, lane)) return false;
  const uint32_t rows = line.all_rows();
  const uint32_t more = std::min(rows + returns.requests, most_rows);
  if (returns.by_ns + line.curve->LateNs(more) > line.head_answer_deadline_ns) return false;
  if (returns.by_ns >= line.head_deadline_ns) return false;
  const double client_ns = static_cast<double>(returns.by_ns - now_ns) / (more - rows);
  const auto pays = [&](uint32_t most) {
    return PaysToGrow(line, rows, most, client_ns * (most - rows), returns);
  };
  return pays(more) || (rows == 1 && more > 2 && pays(2));
}

bool PredictiveScheduler::KeepsStep(const SchedulerSnapshot& snapshot, const LineView& line,
                                    uint32_t most_rows) const {
  const bool is_told = max_delay_ns_ > 0 || !preferred_rows_.empty();
  return !is_told && line.all_rows() < most_rows && IsOnlyLine(snapshot, line);
}

bool PredictiveScheduler::HasOtherFreeLane(const SchedulerSnapshot& snapshot, uint32_t lane) const {
  for (uint32_t i = 0; i < snapshot.lanes.size(); ++i) {
    const LaneView& other = snapshot.lanes[i];
    if (i == lane || other.batches > 0) continue;
    const WorkerView& worker = snapshot.workers[other.worker];
    if (worker.takes_lines() && worker.may_run() && !worker.is_slow()) return true;
  }
  return false;
}

std::optional<SchedulerDecision> PredictiveScheduler::DecideSuspects(
    const SchedulerSnapshot& snapshot, int64_t now_ns) const {
  const std::optional<uint32_t> index =
      WorkerForSuspects(snapshot.workers, snapshot.suspects.head_output_bytes);
  if (!index.has_value()) return std::nullopt;
  const WorkerView& worker = snapshot.workers[*index];
  if (!worker.kept && SuspectRuns(snapshot.workers)) return std::nullopt;
  if (!worker.kept) return SchedulerDecision::KeepWorker(*index);
  if (worker.batches > 0 || !worker.has_output_room || !worker.has_resources) return std::nullopt;
  constexpr uint32_t kSuspects = SchedulerDecision::kSuspects;
  if (snapshot.suspects.head_deadline_ns <= now_ns) {
    return SchedulerDecision::Drop(kSuspects, now_ns, snapshot.suspects.rank);
  }
  return SchedulerDecision::Run(kSuspects, worker.first_lane, snapshot.max_batch_rows);
}

int64_t PredictiveScheduler::DueNs(const LineView& line, uint32_t most_rows) const {
  const uint32_t enough = preferred_rows_.empty() ? most_rows : preferred_rows_.front();
  if (max_delay_ns_ == 0 || line.all_rows() >= std::min(enough, most_rows)) {
    return std::numeric_limits<int64_t>::min();
  }
  return std::min(line.head_arrival_ns + max_delay_ns_, LastStartNs(line, most_rows));
}

}  // namespace mpsd

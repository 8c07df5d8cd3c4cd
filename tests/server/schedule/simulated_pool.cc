#include "tests/server/schedule/simulated_pool.h"

#include <algorithm>
#include <utility>

namespace mpsd {
namespace {

constexpr int64_t kNoDeadlineNs = 30'000'000'000;

}  // namespace

SimulatedPool::SimulatedPool(const Scheduler* scheduler, TrueCurve curve, const Options& options)
    : scheduler_(scheduler),
      true_curve_(std::move(curve)),
      options_(options),
      random_(options.seed),
      lanes_(options.lanes) {
  worker_views_ = {{0, 0, true}};
}

SimulatedOutcome SimulatedPool::Run(const SimulatedLoad& load) {
  load_ = load;
  outcome_ = {};
  outcome_.seconds = static_cast<double>(load.length_ns) / 1e9;
  for (uint32_t i = 0; i < load.clients; ++i) {
    At(now_ns_ + static_cast<int64_t>(Exponential(1e5)), [this] { Arrive(); });
  }
  if (load.requests_per_s > 0) At(now_ns_, [this] { Arrive(); });
  const int64_t end_ns = now_ns_ + load.length_ns;
  while (!events_.empty() && events_.begin()->first < end_ns) {
    const auto first = events_.begin();
    now_ns_ = first->first;
    const std::function<void()> event = std::move(first->second);
    events_.erase(first);
    event();
  }
  return outcome_;
}

void SimulatedPool::Arrive() {
  ++outcome_.offered;
  if (load_.requests_per_s > 0) {
    At(now_ns_ + static_cast<int64_t>(Exponential(1e9 / load_.requests_per_s)),
       [this] { Arrive(); });
  }
  const int64_t deadline_ns = now_ns_ + (load_.deadline_ns > 0 ? load_.deadline_ns : kNoDeadlineNs);
  returns_.Arrived(now_ns_);
  const Arrival arrival = {.curve = options_.knows ? &curve_ : nullptr,
                           .rows_ahead = line_.size(),
                           .deadline_ns = deadline_ns,
                           .answer_deadline_ns = deadline_ns};
  const bool too_late = options_.refuses && LatenessNs(arrival, Snapshot(), now_ns_) > 0;
  if (too_late || line_.size() >= options_.queue_requests) {
    ++outcome_.refused;
    return;
  }
  line_.emplace(deadline_ns, Waiting{now_ns_, deadline_ns});
  Dispatch();
}

void SimulatedPool::Dispatch() {
  while (!line_.empty()) {
    const SchedulerDecision decision = scheduler_->Decide(Snapshot(), now_ns_);
    if (decision.step == SchedulerDecision::Step::kWait) {
      if (decision.at_ns != SchedulerDecision::kNever) At(decision.at_ns, [this] { Dispatch(); });
      return;
    }
    if (decision.step == SchedulerDecision::Step::kRun) {
      Start(decision.lane, decision.max_rows);
      continue;
    }
    const auto alive = line_.upper_bound(decision.at_ns);
    outcome_.dropped += static_cast<uint64_t>(std::distance(line_.begin(), alive));
    line_.erase(line_.begin(), alive);
  }
}

void SimulatedPool::Start(uint32_t index, uint32_t max_rows) {
  Lane* lane = &lanes_[index];
  while (!line_.empty() && lane->batch.size() < max_rows) {
    lane->batch.push_back(line_.begin()->second);
    line_.erase(line_.begin());
  }
  const auto rows = static_cast<uint32_t>(lane->batch.size());
  const double noise = 1 + options_.noise * std::uniform_real_distribution<double>(-1, 1)(random_);
  lane->begun_ns = now_ns_;
  lane->ends_ns = now_ns_ + static_cast<int64_t>(true_curve_(rows) * noise);
  usual_rows_ += (rows - usual_rows_) / 4;
  ++outcome_.batches;
  outcome_.rows += rows;
  At(lane->ends_ns, [this, lane] { End(lane); });
}

void SimulatedPool::End(Lane* lane) {
  curve_.Note(static_cast<uint32_t>(lane->batch.size()), now_ns_ - lane->begun_ns);
  returns_.Answered(static_cast<uint32_t>(lane->batch.size()), now_ns_);
  for (const Waiting& request : lane->batch) {
    ++(now_ns_ <= request.deadline_ns ? outcome_.good : outcome_.late);
    outcome_.wait_ns += static_cast<double>(now_ns_ - request.arrival_ns);
    if (load_.clients == 0) continue;
    const double half = static_cast<double>(load_.return_ns) / 2;
    At(now_ns_ + static_cast<int64_t>(half + Exponential(half)), [this] { Arrive(); });
  }
  lane->batch.clear();
  Dispatch();
}

LineView SimulatedPool::View() const {
  if (line_.empty()) return {};
  const Waiting& head = line_.begin()->second;
  return {.rows = static_cast<uint32_t>(line_.size()),
          .head_rows = 1,
          .head_arrival_ns = head.arrival_ns,
          .head_deadline_ns = head.deadline_ns,
          .head_answer_deadline_ns = head.deadline_ns,
          .tail_deadline_ns = line_.rbegin()->first,
          .curve = options_.knows ? &curve_ : nullptr};
}

SchedulerSnapshot SimulatedPool::Snapshot() {
  line_views_ = {View()};
  lane_views_.clear();
  worker_views_[0].batches = 0;
  for (const Lane& lane : lanes_) {
    const auto rows = static_cast<uint32_t>(lane.batch.size());
    const int64_t expected_ns = rows > 0 && curve_.known() ? curve_.MeanNs(rows) : 0;
    lane_views_.push_back({0, rows > 0 ? 1u : 0u, lane.begun_ns + expected_ns});
    worker_views_[0].batches += rows > 0 ? 1 : 0;
  }
  return {.lines = line_views_,
          .lanes = lane_views_,
          .workers = worker_views_,
          .max_batch_rows = options_.max_batch_rows,
          .usual_batch_rows = static_cast<uint32_t>(usual_rows_ + 0.5),
          .returns = returns_.Expect(now_ns_)};
}

}  // namespace mpsd

#include "load_tests/simulator/simulated_pool.h"

#include <algorithm>
#include <utility>

namespace mpsd {
namespace {

constexpr int64_t kNoDeadlineNs = 30'000'000'000;
constexpr int64_t kRowNs = 100'000;  // charged to a tenant
constexpr int64_t kLoadLookNs = 1'000'000'000;

}  // namespace

SimulatedPool::SimulatedPool(const Scheduler* scheduler, TrueCurve curve, const Options& options)
    : scheduler_(scheduler),
      true_curve_(std::move(curve)),
      options_(options),
      random_(options.seed),
      lanes_(options.lanes),
      standing_(options.target_ns),
      replicas_(options.slo_ns) {
  worker_views_ = {{0, 0, true}};
}

SimulatedOutcome SimulatedPool::Run(const SimulatedLoad& load) {
  load_ = load;
  ++run_;
  outcome_ = {};
  outcome_.seconds = static_cast<double>(load.length_ns) / 1e9;
  for (uint32_t i = 0; i < load.clients; ++i) {
    At(now_ns_ + static_cast<int64_t>(Exponential(1e5)), [this, run = run_] { Arrive(run); });
  }
  if (load.requests_per_s > 0) At(now_ns_, [this, run = run_] { Arrive(run); });
  end_ns_ = now_ns_ + load.length_ns;
  while (!events_.empty() && events_.begin()->first < end_ns_) {
    const auto first = events_.begin();
    now_ns_ = first->first;
    const std::function<void()> event = std::move(first->second);
    events_.erase(first);
    event();
  }
  return outcome_;
}

void SimulatedPool::NoteOffered() {
  replicas_.Arrived(&curve_, 1, options_.max_batch_rows);
  if (now_ns_ - needs_ns_ < kLoadLookNs) return;
  needs_ns_ = now_ns_;
  needs_ = replicas_.At(now_ns_, options_.lanes);
}

uint64_t SimulatedPool::Waits() const {
  uint64_t waits = 0;
  for (const auto& [rank, line] : ranks_) waits += line.size();
  return waits;
}

void SimulatedPool::Arrive(uint32_t run) {
  if (run != run_) return;
  ++outcome_.offered;
  if (load_.requests_per_s > 0) {
    At(now_ns_ + static_cast<int64_t>(Exponential(1e9 / load_.requests_per_s)),
       [this, run] { Arrive(run); });
  }
  PassDoor([this, request = NewRequest()] { Admit(request); });
}

void SimulatedPool::Admit(Waiting request) {
  returns_.Arrived(now_ns_);
  NoteOffered();
  const int64_t wait_ns = load_.deadline_ns > 0 ? StandingQueue::kAnyNs : standing_.LongestWaitNs();
  const Arrival arrival = {.curve = options_.knows ? &curve_ : nullptr,
                           .rows_ahead = RowsBefore(request),
                           .deadline_ns = std::min(request.deadline_ns, now_ns_ + wait_ns),
                           .answer_deadline_ns = BackByNs(request.deadline_ns)};
  const Foreseen foreseen = Foresee(arrival, Snapshot(), now_ns_);
  request.is_tried = foreseen.late_ns > 0;
  const bool too_late = options_.refuses && !foreseen.is_let_in();
  if (too_late || IsFull(request)) {
    ++outcome_.refused;
    ++outcome_.tenants[request.tenant].ended;
    return PassDoor([] {});
  }
  shares_.Enter(options_.is_fair ? request.tenant : 0);
  ranks_[request.rank].emplace(request.deadline_ns, request);
  Dispatch();
}

bool SimulatedPool::Happens(double share) {
  return share > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < share;
}

SimulatedPool::Waiting SimulatedPool::NewRequest() {
  const bool is_urgent = Happens(load_.urgent_share);
  outcome_.urgent_offered += is_urgent ? 1 : 0;
  const uint32_t rank = is_urgent || load_.urgent_share == 0 ? 0 : 2;
  const int64_t deadline_ns = now_ns_ + (load_.deadline_ns > 0 ? load_.deadline_ns : kNoDeadlineNs);
  const uint32_t tenant = Happens(load_.victim_share) ? 1 : 0;
  return {now_ns_, deadline_ns, rank, tenant, run_, false};
}

// As PoolQueue has it.
bool SimulatedPool::IsFull(const Waiting& request) const {
  const auto same = ranks_.find(request.rank);
  if (same == ranks_.end()) return false;
  const Line& line = same->second;
  if (line.size() >= options_.queue_requests) return true;
  if (!options_.is_fair || load_.victim_share == 0) return false;
  const auto of_tenant = std::count_if(line.begin(), line.end(), [&](const auto& entry) {
    return entry.second.tenant == request.tenant;
  });
  return static_cast<uint64_t>(of_tenant) >= options_.queue_requests - line.size();
}

void SimulatedPool::Dispatch() {
  while (!ranks_.empty()) {
    const SchedulerDecision decision = scheduler_->Decide(Snapshot(), now_ns_);
    if (decision.step == SchedulerDecision::Step::kWait) {
      return WakeAt(decision.at_ns);
    }
    if (decision.step == SchedulerDecision::Step::kRun) {
      Start(decision.lane, decision.max_rows);
      continue;
    }
    Line& line = ranks_.at(decision.rank);
    const auto alive = line.upper_bound(decision.at_ns);
    for (auto dropped = line.begin(); dropped != alive; dropped = line.erase(dropped)) {
      ++outcome_.dropped;
      const Waiting& request = dropped->second;
      ++outcome_.tenants[request.tenant].ended;
      if (request.is_tried) continue;
      margin_.NoteEnd(request.arrival_ns, request.deadline_ns, request.deadline_ns);
    }
    if (line.empty()) ranks_.erase(decision.rank);
  }
}

// Like a pool's timer, which knows one time.
void SimulatedPool::WakeAt(int64_t when_ns) {
  if (when_ns >= wake_ns_) return;
  wake_ns_ = when_ns;
  At(when_ns, [this, when_ns] {
    if (wake_ns_ == when_ns) wake_ns_ = SchedulerDecision::kNever;
    Dispatch();
  });
}

void SimulatedPool::Start(uint32_t index, uint32_t max_rows) {
  Lane* lane = &lanes_[index];
  while (!ranks_.empty() && lane->batch.size() < max_rows) {
    Line& line = ranks_.begin()->second;
    const auto first = First(&line);
    const Waiting& request = first->second;
    outcome_.expired_rows += request.deadline_ns <= now_ns_ ? 1 : 0;
    if (options_.is_fair) shares_.Charge(request.tenant, kRowNs);
    lane->batch.push_back(request);
    line.erase(first);
    if (line.empty()) ranks_.erase(ranks_.begin());
  }
  const int64_t waited_ns = now_ns_ - lane->batch.front().arrival_ns;
  if (load_.deadline_ns == 0) standing_.NoteWait(waited_ns, now_ns_);
  if (now_ns_ > end_ns_ - load_.length_ns / 2) {
    outcome_.longest_wait_ns = std::max(outcome_.longest_wait_ns, waited_ns);
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
  const double row_ns =
      static_cast<double>(now_ns_ - lane->begun_ns) / static_cast<double>(lane->batch.size());
  for (const Waiting& request : lane->batch) {
    outcome_.tenants[request.tenant].lane_ns += row_ns;
    PassDoor([this, request] { Answer(request); });
  }
  lane->batch.clear();
  Dispatch();
}

void SimulatedPool::Answer(const Waiting& request) {
  if (!request.is_tried) margin_.NoteEnd(request.arrival_ns, request.deadline_ns, now_ns_);
  margin_.NoteAnswer(request.arrival_ns, request.deadline_ns, now_ns_);
  const int64_t answered_ns = now_ns_ + LagNs();
  Count(request, answered_ns - request.arrival_ns, answered_ns <= request.deadline_ns);
  if (load_.clients == 0) return;
  const double half = static_cast<double>(load_.return_ns) / 2;
  At(now_ns_ + static_cast<int64_t>(half + Exponential(half)),
     [this, run = request.run] { Arrive(run); });
}

// One after the other.
void SimulatedPool::PassDoor(std::function<void()> event) {
  if (options_.door_ns == 0) return event();
  door_free_ns_ = std::max(now_ns_, door_free_ns_) + options_.door_ns / 2;
  At(door_free_ns_, std::move(event));
}

void SimulatedPool::Count(const Waiting& request, int64_t took_ns, bool is_good) {
  ++(is_good ? outcome_.good : outcome_.late);
  outcome_.urgent_good += is_good && request.rank == 0 && load_.urgent_share > 0 ? 1 : 0;
  outcome_.wait_ns += static_cast<double>(took_ns);
  OutcomeOfTenant& tenant = outcome_.tenants[request.tenant];
  ++tenant.ended;
  tenant.good += is_good ? 1 : 0;
  tenant.took_ns.push_back(took_ns);
}

LineView SimulatedPool::View() const {
  if (ranks_.empty()) return {};
  const Line& line = ranks_.begin()->second;
  const Waiting& head = line.begin()->second;
  LineView view = {.rows = static_cast<uint32_t>(line.size()),
                   .head_rows = 1,
                   .head_arrival_ns = head.arrival_ns,
                   .head_deadline_ns = head.deadline_ns,
                   .head_answer_deadline_ns = head.deadline_ns,
                   .tail_deadline_ns = line.rbegin()->first,
                   .curve = options_.knows ? &curve_ : nullptr,
                   .rank = head.rank};
  for (auto later = std::next(ranks_.begin()); later != ranks_.end(); ++later) {
    view.later_rows += static_cast<uint32_t>(later->second.size());
    view.later_rank = later->first;
    view.later_deadline_ns = later->second.begin()->first;
    view.later_answer_deadline_ns = view.later_deadline_ns;
  }
  return view;
}

int64_t SimulatedPool::BackByNs(int64_t deadline_ns) const {
  return options_.is_careful ? margin_.BackByNs(now_ns_, deadline_ns) : deadline_ns;
}

// Each answer takes at least half of the lag.
int64_t SimulatedPool::LagNs() {
  if (options_.lag_ns == 0) return 0;
  const double half = static_cast<double>(options_.lag_ns) / 2;
  return static_cast<int64_t>(half + Exponential(half));
}

// As PoolQueue has it.
uint64_t SimulatedPool::RowsBefore(const Waiting& request) const {
  uint64_t rows = 0;
  std::array<uint64_t, 2> of_rank = {0, 0};
  for (const auto& [rank, line] : ranks_) {
    if (rank < request.rank) rows += line.size();
    if (rank != request.rank) continue;
    if (!options_.is_fair || load_.victim_share == 0) return rows + line.size();
    for (const auto& entry : line) ++of_rank[entry.second.tenant];
  }
  const uint64_t own = of_rank[request.tenant];
  return rows + own + std::min(of_rank[1 - request.tenant], own + 1);
}

// As TenantLists has it.
SimulatedPool::Line::iterator SimulatedPool::First(Line* line) const {
  if (!options_.is_fair || !shares_.is_shared()) return line->begin();
  const auto order = [this](const Waiting& request) {
    return std::pair(shares_.served_ns(request.tenant), request.deadline_ns);
  };
  return std::min_element(line->begin(), line->end(), [&](const auto& one, const auto& other) {
    return order(one.second) < order(other.second);
  });
}

int64_t OutcomeOfTenant::QuantileNs(double quantile) const {
  std::vector<int64_t> sorted = took_ns;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[static_cast<size_t>(quantile * (sorted.size() - 1))];
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

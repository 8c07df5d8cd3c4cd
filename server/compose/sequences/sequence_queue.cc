#include "server/compose/sequences/sequence_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

SequenceTable::Bounds BoundsOf(const ModelFacts& facts, uint64_t most_bytes) {
  return {facts.sequences->candidates, facts.sequences->idle_ns, facts.queue.requests(),
          most_bytes};
}

absl::Status CheckMark(const Request& request) {
  const std::string& model = request.model->name;
  if (request.sequence == nullptr || !request.sequence->has_id()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "inference request to model '", model,
        "' must specify a non-zero or non-empty correlation ID: it serves sequences, and a request "
        "has a 'sequence_id'"));
  }
  if (request.sequence->name.size() > kMaxSequenceIdBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a 'sequence_id' has at most ", kMaxSequenceIdBytes, " bytes"));
  }
  if (request.rows == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "inference request to model '", model,
      "' must specify batch-size 1 due to requirements of sequence batcher: it has one row, not ",
      request.rows));
}

// This thread begins turns of that queue. Lives on its stack; outer ones are linked.
class Beginning {
 public:
  explicit Beginning(const SequenceQueue* queue) : queue_(queue), outer_(innermost) {
    innermost = this;
  }
  ~Beginning() { innermost = outer_; }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  static bool IsOn(const SequenceQueue* queue) {
    const Beginning* each = innermost;
    while (each != nullptr && each->queue_ != queue) each = each->outer_;
    return each != nullptr;
  }

 private:
  static thread_local const Beginning* innermost;

  const SequenceQueue* const queue_;
  const Beginning* const outer_;
};

thread_local const Beginning* Beginning::innermost = nullptr;

}  // namespace

SequenceQueue::SequenceQueue(const ServedModel* model, std::unique_ptr<RowQueue> pool,
                             uint64_t most_bytes, SequenceContext* context, uint32_t held_requests)
    : model_(model),
      pool_(std::move(pool)),
      context_(context),
      table_(model->name, BoundsOf(model->facts, most_bytes), &context->states, &model->metrics),
      held_requests_(held_requests) {}

SequenceQueue::~SequenceQueue() {
  absl::MutexLock lock(&mu_);
  MPSD_CHECK(running_.empty() && table_.waiting() == 0);
}

// REQUIRES: the spec is complete; it was checked against the policy.
const SequencePlan& SequenceQueue::Plan() {
  if (!plan_.has_value()) {
    absl::StatusOr<SequencePlan> plan = SequencePlan::Of(*model_->facts.sequences, model_->spec);
    MPSD_CHECK(plan.ok());
    plan_ = *std::move(plan);
  }
  return *plan_;
}

// ---- requests ----

absl::Status SequenceQueue::Reserve(Request* request, RowTargets* targets) {
  absl::Status status = CheckMark(*request);
  if (status.ok()) status = Admit(request);
  if (!status.ok()) return status;
  targets->later = true;
  const std::shared_ptr<ServedModel> model = request->model;  // owns this
  BeginTurns();
  return absl::OkStatus();
}

absl::Status SequenceQueue::Admit(Request* request) {
  absl::MutexLock lock(&mu_);
  if (is_closed_) return absl::AbortedError("the model was replaced");
  const SequencePlan& plan = Plan();
  absl::Status status = plan.CheckId(*request->sequence);
  if (!status.ok()) return status;
  const Turn turn = {request, request->sequence->starts, request->sequence->ends};
  status = table_.Admit(SequenceKey::Of(*request), turn, plan.state_bytes);
  if (!status.ok()) return status;
  request->queue = this;
  request->Go(RequestState::kWaiting);
  context_->inside.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

void SequenceQueue::Cancel(Request* request) {
  SequenceTable::TurnsToEnd to_end;
  std::shared_ptr<SequenceTurn> turn;
  bool has_left = false;
  {
    absl::MutexLock lock(&mu_);
    const auto found = running_.find(request);
    if (found != running_.end()) {
      turn = found->second;
    } else {
      has_left = table_.Remove(request, context_->clock->NowNs(), &to_end);
    }
  }
  if (turn != nullptr) return turn->Cancel();
  if (has_left) to_end.waiting.emplace_back(request, CancelledByClient());
  Carry(to_end);
}

void SequenceQueue::Close() {
  SequenceTable::TurnsToEnd to_end;
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
    table_.EndAll(
        absl::UnavailableError(absl::StrCat("model '", model_->name,
                                            "' was replaced or unloaded, and the state of its "
                                            "sequences is lost; they must begin again")),
        &to_end);
  }
  Carry(to_end);
  pool_->Close();
}

// ---- turns ----

// A turn may end in here, and the next one follows. If each began the next, all would stand on one
// stack. So the outermost call on this thread begins all.
void SequenceQueue::BeginTurns() {
  if (Beginning::IsOn(this)) return;
  const Beginning here(this);
  while (true) {
    SequenceTable::TurnsToEnd late;
    const std::shared_ptr<SequenceTurn> turn = NextTurn(&late);
    Carry(late);
    if (turn != nullptr) {
      BeginTurn(turn.get());
    } else if (late.waiting.empty()) {
      return;
    }
  }
}

void SequenceQueue::BeginTurn(SequenceTurn* turn) {
  turn->Prepare();
  const absl::Status status = turn->Reserve(pool_.get());
  if (status.ok()) return turn->Fill(pool_.get());
  FailTurn(turn, absl::IsAborted(status) ? absl::UnavailableError(status.message()) : status,
           SequenceTable::Outcome::kRefused);
}

std::shared_ptr<SequenceTurn> SequenceQueue::NextTurn(SequenceTable::TurnsToEnd* late) {
  absl::MutexLock lock(&mu_);
  if (table_.waiting() < held_requests_) return nullptr;
  held_requests_ = 0;
  std::optional<SequenceTable::Begun> begun = table_.Begin(context_->clock->NowNs(), late);
  if (!begun.has_value()) return nullptr;
  ChildOwner* const owner = this;
  auto turn =
      std::make_shared<SequenceTurn>(owner, &Plan(), std::move(begun->sequence), begun->turn);
  running_[begun->turn.request] = turn;
  return turn;
}

std::shared_ptr<SequenceTurn> SequenceQueue::Leave(SequenceTurn* turn,
                                                   SequenceTable::Outcome outcome) {
  SequenceTable::TurnsToEnd to_end;
  std::shared_ptr<SequenceTurn> owned;
  {
    absl::MutexLock lock(&mu_);
    const auto found = running_.find(turn->turn().request);
    MPSD_CHECK(found != running_.end());
    owned = std::move(found->second);
    running_.erase(found);
    table_.Done(turn->sequence(), turn->turn(), outcome, context_->clock->NowNs(), &to_end);
  }
  Carry(to_end);
  return owned;
}

// A client with its answer may send the next request, so the table is told first.
void SequenceQueue::ChildAnswered(ChildRequest* child, const Answer& answer) {
  auto* const turn = static_cast<SequenceTurn*>(child);
  Answer told;
  if (absl::Status taken = turn->TakeState(answer, &told); !taken.ok()) {
    return ChildFailed(turn, taken);
  }
  Request* const request = turn->turn().request;
  const std::shared_ptr<ServedModel> model = request->model;  // owns this
  request->times = turn->request()->times;
  request->sums = turn->request()->sums;
  request->is_answered = true;
  const std::shared_ptr<SequenceTurn> owned = Leave(turn, SequenceTable::Outcome::kAnswered);
  request->Go(RequestState::kEnded);
  context_->inside.fetch_sub(1, std::memory_order_relaxed);
  request->reply.Send(told);
  BeginTurns();
}

void SequenceQueue::ChildFailed(ChildRequest* child, const absl::Status& status) {
  auto* const turn = static_cast<SequenceTurn*>(child);
  const std::shared_ptr<ServedModel> model = turn->turn().request->model;  // owns this
  FailTurn(turn, status, SequenceTable::Outcome::kFailed);
  BeginTurns();
}

// The fate of the worker or the model says more than its effect on one request.
void SequenceQueue::FailTurn(SequenceTurn* turn, const absl::Status& status,
                             SequenceTable::Outcome outcome) {
  Request* const request = turn->turn().request;
  const std::shared_ptr<SequenceTurn> owned = Leave(turn, outcome);
  absl::Status lost;
  {
    absl::MutexLock lock(&mu_);
    lost = owned->sequence()->lost;
  }
  const bool is_of_loss = absl::IsUnavailable(status) || absl::IsCancelled(status);
  Fail(request, is_of_loss && !lost.ok() ? lost : status);
}

void SequenceQueue::Fail(Request* request, const absl::Status& status) {
  request->Go(RequestState::kEnded);
  context_->inside.fetch_sub(1, std::memory_order_relaxed);
  request->reply.Fail(status);
}

void SequenceQueue::Carry(const SequenceTable::TurnsToEnd& to_end) {
  std::shared_ptr<ServedModel> model;  // owns this, perhaps only through the requests
  if (!to_end.waiting.empty()) model = to_end.waiting.front().first->model;
  for (const auto& [request, status] : to_end.waiting) Fail(request, status);
}

// ---- lanes and time ----

void SequenceQueue::LanesJoined(absl::Span<const uint64_t> pins) {
  {
    absl::MutexLock lock(&mu_);
    table_.AddLanes(pins);
  }
  BeginTurns();
}

// Includes closed sequences: no other lane would ever take them.
std::vector<std::shared_ptr<SequenceTurn>> SequenceQueue::RunningOn(
    absl::Span<const uint64_t> pins) {
  std::vector<std::shared_ptr<SequenceTurn>> turns;
  for (const auto& entry : running_) {
    const uint64_t pin = entry.second->sequence()->pin;
    if (std::find(pins.begin(), pins.end(), pin) != pins.end()) turns.push_back(entry.second);
  }
  return turns;
}

void SequenceQueue::LanesLeft(absl::Span<const uint64_t> pins) {
  SequenceTable::TurnsToEnd to_end;
  std::vector<std::shared_ptr<SequenceTurn>> lost;
  {
    absl::MutexLock lock(&mu_);
    table_.LoseLanes(pins, &to_end);
    lost = RunningOn(pins);
  }
  for (const std::shared_ptr<SequenceTurn>& turn : lost) turn->Cancel();
  Carry(to_end);
  BeginTurns();
}

void SequenceQueue::ExpectAt(int64_t when_ns) {
  SequenceTable::TurnsToEnd to_end;
  {
    absl::MutexLock lock(&mu_);
    table_.ExpectLanesAt(when_ns, context_->clock->NowNs(), &to_end);
  }
  Carry(to_end);
}

void SequenceQueue::Tick(int64_t now_ns) {
  SequenceTable::TurnsToEnd to_end;
  {
    absl::MutexLock lock(&mu_);
    table_.TakeExpired(now_ns, &to_end);
  }
  Carry(to_end);
  BeginTurns();
}

void SequenceQueue::FailAll(const char* text) {
  SequenceTable::TurnsToEnd to_end;
  {
    absl::MutexLock lock(&mu_);
    table_.EndAll(absl::UnavailableError(text), &to_end);
  }
  Carry(to_end);
}

}  // namespace mpsd

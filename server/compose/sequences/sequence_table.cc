#include "server/compose/sequences/sequence_table.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/request/infer_message.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

uint64_t InputBytes(const Request& request) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request.inputs) {
    if (input.payload != nullptr) bytes += input.payload->bytes;
  }
  return bytes;
}

const char* WhyClosed(SequenceEnd end) {
  switch (end) {
    case SequenceEnd::kEnded:
    case SequenceEnd::kRestarted:
      return "it has had its last request";
    case SequenceEnd::kIdle:
      return "it was closed, since no request of it came for too long";
    case SequenceEnd::kLost:
      return "its worker is gone, and its state is lost";
    case SequenceEnd::kFailed:
      return "its first request was not answered";
    case SequenceEnd::kClosed:
      return "its model was replaced, and its state is lost";
  }
  return "";
}

absl::Status TooLate() { return absl::DeadlineExceededError("Request timeout expired"); }

uint32_t CountOf(const absl::flat_hash_map<uint32_t, uint32_t>& counts, uint32_t tenant) {
  const auto found = counts.find(tenant);
  return found == counts.end() ? 0 : found->second;
}

void CountDown(absl::flat_hash_map<uint32_t, uint32_t>* counts, uint32_t tenant) {
  const auto found = counts->find(tenant);
  MPSD_CHECK(found != counts->end() && found->second > 0);
  if (--found->second == 0) counts->erase(found);
}

}  // namespace

absl::Status SequenceTable::NotOpen(const SequenceKey& key) const {
  const auto past = past_.find(key);
  return absl::InvalidArgumentError(absl::StrCat(
      "inference request for sequence ", key.Text(), " to model '", model_,
      "' must specify the START flag on the first request of the sequence: it is not open, and "
      "'sequence_start' opens it",
      past == past_.end() ? "" : "; ", past == past_.end() ? "" : WhyClosed(past->second.end)));
}

bool SequenceTable::BeginsAtOnce(const Sequence& sequence) const {
  return sequence.pin != 0 && sequence.running == nullptr && sequence.waiting.empty();
}

// Whether a sequence that opens now gets a lane: none that wait for one could have it.
bool SequenceTable::GetsLane(const SequenceKey& key) {
  return FreeLane() != nullptr && MayHaveLane(key.tenant);
}

absl::StatusOr<std::shared_ptr<Sequence>> SequenceTable::Open(const SequenceKey& key,
                                                              uint64_t state_bytes) {
  if (!states_->TryTake(state_bytes)) {
    return Busy(
        "the states of all open sequences leave no room for another, "
        "limits.sequence_states");
  }
  auto sequence = std::make_shared<Sequence>(key, state_bytes, states_);
  open_[key] = sequence;
  open_share_.Set(static_cast<int64_t>(open_.size()));
  sequence->backlog_place = backlog_.insert(backlog_.end(), sequence.get());
  return sequence;
}

absl::Status SequenceTable::Admit(const SequenceKey& key, const Turn& turn, uint64_t state_bytes) {
  const auto found = open_.find(key);
  const bool is_open = found != open_.end();
  const bool goes_on = is_open && !found->second->ending.has_value();
  if (!turn.starts && !goes_on) return NotOpen(key);
  if (lanes_.empty() && turn.request->expiry_ns() <= lanes_expected_ns_) {
    return NoWorkerInTime(model_);
  }
  const WaitingLedger::Entry entry = {key.tenant, InputBytes(*turn.request),
                                      is_open ? found->second->pin != 0 : GetsLane(key)};
  const bool needs_room = !is_open || !BeginsAtOnce(*found->second);
  if (needs_room && !ledger_.HasRoom(entry)) return Busy("Exceeds maximum queue size");
  std::shared_ptr<Sequence> sequence;
  if (is_open) {
    sequence = found->second;
    StopRest(sequence.get());
    if (turn.starts) Count(sequence->ending.value_or(SequenceEnd::kRestarted));
  } else {
    absl::StatusOr<std::shared_ptr<Sequence>> opened = Open(key, state_bytes);
    if (!opened.ok()) return opened.status();
    sequence = *std::move(opened);
  }
  if (turn.starts) sequence->ending.reset();
  if (turn.ends) sequence->ending = SequenceEnd::kEnded;
  sequence->waiting.push_back(turn);
  waiting_[turn.request] = {sequence, entry.bytes};
  ledger_.Add({key.tenant, entry.bytes, sequence->pin != 0});
  if (!is_open && entry.has_lane) PlaceBacklog();
  LookAt(sequence);
  return absl::OkStatus();
}

// ---- lanes ----

void SequenceTable::AddLanes(absl::Span<const uint64_t> pins) {
  for (const uint64_t pin : pins) lanes_.push_back({pin});
  PlaceBacklog();
}

SequenceTable::Lane* SequenceTable::FreeLane() {
  const auto idlest = std::min_element(
      lanes_.begin(), lanes_.end(),
      [](const Lane& one, const Lane& other) { return one.sequences < other.sequences; });
  if (idlest == lanes_.end() || idlest->sequences >= bounds_.candidates) return nullptr;
  return &*idlest;
}

// A known tenant with a place may take another one only if more places are free than it has.
bool SequenceTable::MayHaveLane(uint32_t tenant) const {
  if (tenant == 0) return true;
  uint64_t free = 0;
  for (const Lane& lane : lanes_) free += bounds_.candidates - lane.sequences;
  const uint32_t placed = CountOf(placed_of_, tenant);
  return placed == 0 || placed < free;
}

void SequenceTable::PlaceBacklog() {
  while (Lane* const lane = FreeLane()) {
    const auto next = std::find_if(backlog_.begin(), backlog_.end(), [this](const auto& sequence) {
      return MayHaveLane(sequence->key.tenant);
    });
    if (next == backlog_.end()) return;
    Sequence* const sequence = *next;
    LeaveBacklog(sequence);
    sequence->pin = lane->pin;
    ++lane->sequences;
    ++placed_of_[sequence->key.tenant];
    ledger_.HaveLane(sequence->key.tenant, static_cast<uint32_t>(sequence->waiting.size()));
    LookAt(open_.at(sequence->key));
  }
}

void SequenceTable::LeaveBacklog(Sequence* sequence) {
  if (!sequence->backlog_place.has_value()) return;
  backlog_.erase(*sequence->backlog_place);
  sequence->backlog_place.reset();
}

void SequenceTable::LoseLanes(absl::Span<const uint64_t> pins, TurnsToEnd* to_end) {
  std::erase_if(lanes_, [pins](const Lane& lane) {
    return std::find(pins.begin(), pins.end(), lane.pin) != pins.end();
  });
  std::vector<std::shared_ptr<Sequence>> lost;
  for (const auto& entry : open_) {
    const bool is_there = std::find(pins.begin(), pins.end(), entry.second->pin) != pins.end();
    if (entry.second->pin != 0 && is_there) lost.push_back(entry.second);
  }
  for (const std::shared_ptr<Sequence>& sequence : lost) {
    const absl::Status status = absl::UnavailableError(
        absl::StrCat("worker lost: with it the state of sequence ", sequence->key.Text(),
                     " of model '", model_, "'; the sequence must begin again"));
    EndWaiting(sequence.get(), status, to_end);
    Close(sequence.get(), SequenceEnd::kLost);
    sequence->lost = status;
  }
  PlaceBacklog();
}

void SequenceTable::ExpectLanesAt(int64_t when_ns, int64_t now_ns, TurnsToEnd* to_end) {
  lanes_expected_ns_ = when_ns;
  if (!lanes_.empty() || when_ns == INT64_MIN) return;
  EndUntil(when_ns, NoWorkerInTime(model_), now_ns, to_end);
}

// ---- turns ----

void SequenceTable::LookAt(const std::shared_ptr<Sequence>& sequence) {
  const bool may_begin =
      sequence->pin != 0 && sequence->running == nullptr && !sequence->waiting.empty();
  if (!may_begin || sequence->is_ready) return;
  sequence->is_ready = true;
  ready_.push_back(sequence);
}

std::optional<SequenceTable::Begun> SequenceTable::Begin(int64_t now_ns, TurnsToEnd* to_end) {
  while (!ready_.empty()) {
    const std::shared_ptr<Sequence> sequence = std::move(ready_.front());
    ready_.pop_front();
    sequence->is_ready = false;
    if (sequence->running != nullptr || sequence->waiting.empty()) continue;
    const Turn turn = sequence->waiting.front();
    if (Expire(turn.request, now_ns, to_end)) continue;
    sequence->waiting.pop_front();
    Forget(turn.request);
    sequence->running = turn.request;
    return Begun{sequence, turn};
  }
  return std::nullopt;
}

void SequenceTable::Forget(Request* request) {
  const auto found = waiting_.find(request);
  MPSD_CHECK(found != waiting_.end());
  const Waiting& gone = found->second;
  ledger_.Remove({gone.sequence->key.tenant, gone.bytes, gone.sequence->pin != 0});
  waiting_.erase(found);
}

void SequenceTable::Done(Sequence* sequence, const Turn& turn, Outcome outcome, int64_t now_ns,
                         TurnsToEnd* to_end) {
  MPSD_CHECK(sequence->running == turn.request);
  sequence->running = nullptr;
  if (sequence->is_closed) return;
  const bool is_untold_end = turn.ends && outcome == Outcome::kRefused;
  if (turn.starts && outcome != Outcome::kAnswered) {
    DropFollowers(sequence, 0, to_end);
  } else if (is_untold_end && sequence->ending == SequenceEnd::kEnded &&
             sequence->waiting.empty()) {
    sequence->ending.reset();
  }
  Settle(sequence, now_ns);
}

void SequenceTable::Settle(Sequence* sequence, int64_t now_ns) {
  if (sequence->running != nullptr) return;
  if (!sequence->waiting.empty()) return LookAt(open_.at(sequence->key));
  if (sequence->ending.has_value()) return Close(sequence, *sequence->ending);
  Rest(sequence, now_ns);
}

absl::Status SequenceTable::NotBegun(const Sequence& sequence) const {
  return absl::UnavailableError(absl::StrCat("the first request of sequence ", sequence.key.Text(),
                                             " of model '", model_,
                                             "' was not answered; the sequence must begin again"));
}

// Drops the turns from `first` on, up to one that starts.
void SequenceTable::DropFollowers(Sequence* sequence, size_t first, TurnsToEnd* to_end) {
  std::deque<Turn>& waiting = sequence->waiting;
  const auto begin = waiting.begin() + static_cast<ptrdiff_t>(first);
  const auto end = std::find_if(begin, waiting.end(), [](const Turn& turn) { return turn.starts; });
  for (auto turn = begin; turn != end; ++turn) {
    Forget(turn->request);
    to_end->waiting.emplace_back(turn->request, NotBegun(*sequence));
  }
  if (end == waiting.end()) sequence->ending = SequenceEnd::kFailed;
  waiting.erase(begin, end);
}

bool SequenceTable::Remove(Request* request, int64_t now_ns, TurnsToEnd* to_end) {
  const auto found = waiting_.find(request);
  if (found == waiting_.end()) return false;
  const std::shared_ptr<Sequence> sequence = found->second.sequence;
  std::deque<Turn>& waiting = sequence->waiting;
  const auto turn = std::find_if(waiting.begin(), waiting.end(),
                                 [request](const Turn& each) { return each.request == request; });
  MPSD_CHECK(turn != waiting.end());
  const bool starts = turn->starts;
  const size_t place = static_cast<size_t>(turn - waiting.begin());
  waiting.erase(turn);
  Forget(request);
  if (starts) DropFollowers(sequence.get(), place, to_end);
  Settle(sequence.get(), now_ns);
  return true;
}

void SequenceTable::EndWaiting(Sequence* sequence, const absl::Status& status, TurnsToEnd* to_end) {
  for (const Turn& turn : sequence->waiting) {
    Forget(turn.request);
    to_end->waiting.emplace_back(turn.request, status);
  }
  sequence->waiting.clear();
}

void SequenceTable::EndAll(const absl::Status& status, TurnsToEnd* to_end) {
  while (!backlog_.empty()) LeaveBacklog(backlog_.front());
  ready_.clear();
  std::vector<std::shared_ptr<Sequence>> all;
  for (const auto& entry : open_) all.push_back(entry.second);
  for (const std::shared_ptr<Sequence>& sequence : all) {
    EndWaiting(sequence.get(), status, to_end);
    Close(sequence.get(), SequenceEnd::kClosed);
    sequence->lost = status;
  }
}

// ---- time ----

void SequenceTable::Rest(Sequence* sequence, int64_t now_ns) {
  sequence->idle_since_ns = now_ns;
  sequence->idle_place = idle_.insert(idle_.end(), sequence);
}

void SequenceTable::StopRest(Sequence* sequence) {
  if (!sequence->idle_place.has_value()) return;
  idle_.erase(*sequence->idle_place);
  sequence->idle_place.reset();
}

// A turn that starts takes its followers along.
void SequenceTable::EndTurnsUntil(int64_t until_ns, const absl::Status& status, Sequence* sequence,
                                  TurnsToEnd* to_end) {
  std::deque<Turn> kept;
  bool is_begun = true;
  for (const Turn& turn : sequence->waiting) {
    const bool is_late = turn.request->expiry_ns() <= until_ns;
    if (turn.starts) is_begun = !is_late;
    if (!is_late && is_begun) {
      kept.push_back(turn);
      continue;
    }
    Forget(turn.request);
    to_end->waiting.emplace_back(turn.request, is_late ? status : NotBegun(*sequence));
  }
  sequence->waiting.swap(kept);
  if (!is_begun) sequence->ending = SequenceEnd::kFailed;
}

void SequenceTable::EndUntil(int64_t until_ns, const absl::Status& status, int64_t now_ns,
                             TurnsToEnd* to_end) {
  absl::flat_hash_set<std::shared_ptr<Sequence>> late;
  for (const auto& entry : waiting_) {
    if (entry.first->expiry_ns() <= until_ns) late.insert(entry.second.sequence);
  }
  for (const std::shared_ptr<Sequence>& sequence : late) {
    EndTurnsUntil(until_ns, status, sequence.get(), to_end);
    Settle(sequence.get(), now_ns);
  }
}

// False if the request's time has not come. REQUIRES: it waits.
bool SequenceTable::Expire(Request* request, int64_t now_ns, TurnsToEnd* to_end) {
  if (request->expiry_ns() > now_ns) return false;
  MPSD_CHECK(Remove(request, now_ns, to_end));
  to_end->waiting.emplace_back(request, TooLate());
  return true;
}

void SequenceTable::TakeExpired(int64_t now_ns, TurnsToEnd* to_end) {
  EndUntil(now_ns, TooLate(), now_ns, to_end);
  while (!idle_.empty() && idle_.front()->idle_since_ns + bounds_.idle_ns <= now_ns) {
    Close(idle_.front(), SequenceEnd::kIdle);
  }
}

// ---- ends ----

// The sequence may be gone on return, unless the caller holds it. REQUIRES: it is open, and no turn
// waits.
void SequenceTable::Close(Sequence* sequence, SequenceEnd end) {
  const auto found = open_.find(sequence->key);
  MPSD_CHECK(found != open_.end() && found->second.get() == sequence && sequence->waiting.empty());
  const std::shared_ptr<Sequence> kept = std::move(found->second);
  open_.erase(found);
  open_share_.Set(static_cast<int64_t>(open_.size()));
  StopRest(sequence);
  sequence->is_closed = true;
  LeaveBacklog(sequence);
  if (sequence->pin != 0) CountDown(&placed_of_, sequence->key.tenant);
  const auto lane = std::find_if(lanes_.begin(), lanes_.end(), [sequence](const Lane& each) {
    return each.pin == sequence->pin;
  });
  if (lane != lanes_.end()) --lane->sequences;
  Count(end);
  Remember(sequence->key, end);
  PlaceBacklog();
}

void SequenceTable::Count(SequenceEnd end) {
  metrics_->ended_sequences[static_cast<size_t>(end)].fetch_add(1, std::memory_order_relaxed);
}

void SequenceTable::Remember(const SequenceKey& key, SequenceEnd end) {
  past_[key] = {end, ++past_count_};
  past_order_.emplace_back(key, past_count_);
  if (past_order_.size() <= kMaxPastSequences) return;
  const auto& [oldest, number] = past_order_.front();
  const auto found = past_.find(oldest);
  if (found != past_.end() && found->second.number == number) past_.erase(found);
  past_order_.pop_front();
}

}  // namespace mpsd

#include "server/pool/batch/request_lines.h"

#include <algorithm>

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

constexpr uint32_t kSuspects = SchedulerDecision::kSuspects;

// Charged per row until the real time is known.
constexpr int64_t kUnknownRowNs = 1'000'000;

void TakeEqualFrom(RequestRanks* ranks, absl::FunctionRef<bool(const Request&)> equal,
                   std::vector<Request*>* taken) {
  const size_t first = taken->size();
  ranks->ForEach([&](Request* request) {
    if (equal(*request)) taken->push_back(request);
  });
  for (size_t i = first; i < taken->size(); ++i) ranks->Remove((*taken)[i]);
}

}  // namespace

void RequestLines::Add(Request* request) {
  MPSD_CHECK(request->state == RequestState::kQueued);
  shares_.Enter(request->tenant);
  if (request->suspect) return suspects_.Insert(request);
  Line* line = LineOf(*request);
  line->waiting.Insert(request);
  Show(line->index);
}

void RequestLines::Remove(Request* request) {
  MPSD_CHECK(request->state == RequestState::kQueued);
  if (request->suspect) return suspects_.Remove(request);
  Line* line = LineOf(*request);
  line->waiting.Remove(request);
  Show(line->index);
}

void RequestLines::Pop(uint32_t line, int64_t row_ns) {
  RequestRanks* ranks = RanksOf(line);
  Request* request = ranks->first(shares_);
  MPSD_CHECK(request != nullptr);
  ranks->Remove(request);
  request->charged_ns = request->rows * row_ns;
  shares_.Charge(request->tenant, request->charged_ns);
  Show(line);
}

// A pin is the last element of a key. It is dropped, because lanes are alike.
LatencyCurve* RequestLines::curve(const Request& request) {
  if (request.pin == 0) return curves_.Of(request.key);
  return curves_.Of(ShapeKey(request.key.begin(), request.key.end() - 1));
}

void RequestLines::NoteOutputs(const Request& request, uint32_t rows, uint64_t bytes,
                               uint64_t most_bytes) {
  const auto found = lines_.find(request.key);
  if (found == lines_.end()) return;
  Line* line = found->second.get();
  const uint32_t before = line->output_rows.most();
  line->output_rows.Note(rows, bytes, most_bytes);
  if (line->output_rows.most() != before) Show(line->index);
}

int64_t RequestLines::RowNs(uint32_t line, uint32_t most_rows) const {
  if (!shares_.is_shared()) return 0;
  const LatencyCurve* known = curve(line);
  if (!IsKnown(known)) return kUnknownRowNs;
  const uint32_t rows = std::clamp(views_[line].all_rows(), 1u, most_rows);
  return std::max<int64_t>(1, known->MeanNs(rows) / rows);
}

void RequestLines::ShowShares() {
  if (!shares_.is_shared()) return;
  for (uint32_t line = 0; line < views_.size(); ++line) {
    views_[line].head_served_ns = ServedNs(by_index_[line]->waiting);
  }
}

int64_t RequestLines::ServedNs(const RequestRanks& ranks) const {
  const Request* first = shares_.is_shared() ? ranks.first(shares_) : nullptr;
  return first == nullptr ? 0 : shares_.served_ns(first->tenant);
}

uint32_t RequestLines::TakeExpiredOf(uint32_t line, uint32_t rank, int64_t until_ns,
                                     std::vector<Request*>* expired) {
  const uint32_t delayed = RanksOf(line)->TakeExpiredOf(rank, until_ns, expired);
  Show(line);
  return delayed;
}

uint32_t RequestLines::TakeExpired(int64_t until_ns, std::vector<Request*>* expired) {
  uint32_t delayed = suspects_.TakeExpired(until_ns, expired);
  for (uint32_t line = 0; line < views_.size(); ++line) {
    if (views_[line].empty()) continue;
    delayed += by_index_[line]->waiting.TakeExpired(until_ns, expired);
    Show(line);
  }
  return delayed;
}

void RequestLines::TakeEqual(const Request& request, absl::FunctionRef<bool(const Request&)> equal,
                             std::vector<Request*>* taken) {
  TakeEqualFrom(&suspects_, equal, taken);
  const auto line = lines_.find(request.key);
  if (line == lines_.end()) return;
  TakeEqualFrom(&line->second->waiting, equal, taken);
  Show(line->second->index);
}

void RequestLines::ForEach(absl::FunctionRef<void(const Request&)> visit) const {
  const auto visit_one = [&visit](Request* request) { visit(*request); };
  suspects_.ForEach(visit_one);
  for (const Line* line : by_index_) line->waiting.ForEach(visit_one);
}

// Without a line it is the view of the suspects.
LineView RequestLines::ViewOf(const RequestRanks& ranks, const Line* line) const {
  LineView view;
  for (uint32_t rank = 0; rank < ranks.ranks().size(); ++rank) {
    const TenantLists& lists = ranks.ranks()[rank];
    const Request* head = lists.earliest();
    if (head == nullptr) continue;
    if (view.empty()) {
      view = {.rows = lists.rows(),
              .head_rows = lists.most_first_rows(),
              .head_arrival_ns = head->arrival_ns,
              .head_deadline_ns = head->deadline_ns,
              .head_answer_deadline_ns = head->answer_deadline_ns(),
              .tail_deadline_ns = lists.latest_deadline_ns(),
              .curve = line == nullptr ? nullptr : line->curve,
              .rank = rank,
              .head_served_ns = ServedNs(ranks),
              .head_output_bytes = head->output_bytes};
      if (line == nullptr) continue;
      view.most_rows = std::max(line->most_rows(), view.head_rows);
      view.pin = line->pin;
      continue;
    }
    view.later_rows += lists.rows();
    if (head->deadline_ns >= view.later_deadline_ns) continue;
    view.later_rank = rank;
    view.later_deadline_ns = head->deadline_ns;
    view.later_answer_deadline_ns = head->answer_deadline_ns();
  }
  return view;
}

const RequestRanks& RequestLines::RanksOf(uint32_t line) const {
  return line == kSuspects ? suspects_ : by_index_[line]->waiting;
}

RequestRanks* RequestLines::RanksOf(uint32_t line) {
  return line == kSuspects ? &suspects_ : &by_index_[line]->waiting;
}

void RequestLines::Show(uint32_t line) {
  if (line != kSuspects) views_[line] = ViewOf(by_index_[line]->waiting, by_index_[line]);
}

RequestLines::Line* RequestLines::LineOf(const Request& request) {
  std::unique_ptr<Line>& entry = lines_[request.key];
  const bool is_new = entry == nullptr;
  if (is_new) entry = std::make_unique<Line>();
  Line* line = entry.get();  // `entry` does not outlive ForgetIdleLines()
  line->last_used = ++use_count_;
  if (!is_new) return line;
  line->curve = curve(request);
  line->shared_rows = budget_.RowsOf(request);
  line->pin = request.pin;
  line->index = static_cast<uint32_t>(views_.size());
  views_.emplace_back();
  by_index_.push_back(line);
  ForgetIdleLines(line);
  return line;
}

void RequestLines::ForgetIdleLines(const Line* keep) {
  while (lines_.size() > kMaxOpenSlabs) {
    auto oldest = lines_.end();
    for (auto it = lines_.begin(); it != lines_.end(); ++it) {
      if (it->second.get() == keep || !it->second->waiting.empty()) continue;
      if (oldest == lines_.end() || it->second->last_used < oldest->second->last_used) oldest = it;
    }
    if (oldest == lines_.end()) return;
    RemoveLine(oldest->second->index);
    lines_.erase(oldest);
  }
}

// The last line moves to the removed line's index.
void RequestLines::RemoveLine(uint32_t index) {
  MPSD_CHECK(views_[index].empty());
  by_index_.back()->index = index;
  views_[index] = views_.back();
  by_index_[index] = by_index_.back();
  views_.pop_back();
  by_index_.pop_back();
}

void RequestLines::CheckInvariants() const {
  MPSD_CHECK(views_.size() == lines_.size() && by_index_.size() == lines_.size());
  for (const auto& entry : lines_) {
    const auto& line = *entry.second;
    MPSD_CHECK(by_index_[line.index] == &line);
    LineView wanted = ViewOf(line.waiting, &line);
    wanted.head_served_ns = views_[line.index].head_served_ns;
    MPSD_CHECK(views_[line.index] == wanted);
    line.waiting.CheckInvariants();
    line.waiting.ForEach([&entry](const Request* request) {
      MPSD_CHECK(request->state == RequestState::kQueued);
      MPSD_CHECK(!request->suspect && request->key == entry.first);
    });
  }
  suspects_.CheckInvariants();
  suspects_.ForEach([](const Request* request) {
    MPSD_CHECK(request->state == RequestState::kQueued && request->suspect);
  });
}

}  // namespace mpsd

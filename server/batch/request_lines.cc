#include "server/batch/request_lines.h"

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

constexpr uint32_t kSuspects = SchedulerDecision::kSuspects;

void ForEachOf(const RequestList& list, absl::FunctionRef<void(const Request&)> visit) {
  for (const Request* request = list.head(); request != nullptr; request = request->next) {
    visit(*request);
  }
}

void TakeEqualFrom(RequestList* list, absl::FunctionRef<bool(const Request&)> equal,
                   std::vector<Request*>* taken) {
  for (Request* request = list->head(); request != nullptr;) {
    Request* next = request->next;
    if (equal(*request)) {
      list->Remove(request);
      taken->push_back(request);
    }
    request = next;
  }
}

}  // namespace

void RequestLines::Add(Request* request) {
  MPSD_CHECK(request->state == RequestState::kQueued);
  if (request->suspect) return suspects_.InsertByDeadline(request);
  Line* line = LineOf(*request);
  line->waiting.InsertByDeadline(request);
  Show(line->index);
}

void RequestLines::Remove(Request* request) {
  MPSD_CHECK(request->state == RequestState::kQueued);
  if (request->suspect) return suspects_.Remove(request);
  Line* line = LineOf(*request);
  line->waiting.Remove(request);
  Show(line->index);
}

void RequestLines::Pop(uint32_t line) {
  RequestList* list = ListOf(line);
  MPSD_CHECK(!list->empty());
  list->Remove(list->head());
  Show(line);
}

void RequestLines::TakeExpiredOf(uint32_t line, int64_t until_ns, std::vector<Request*>* expired) {
  RequestList* list = ListOf(line);
  // Sorted by deadline: the first that is still alive ends the walk.
  while (Request* request = list->head()) {
    if (request->deadline_ns > until_ns) break;
    list->Remove(request);
    expired->push_back(request);
  }
  Show(line);
}

void RequestLines::TakeExpired(int64_t until_ns, std::vector<Request*>* expired) {
  TakeExpiredOf(kSuspects, until_ns, expired);
  for (uint32_t line = 0; line < views_.size(); ++line) {
    if (!views_[line].empty()) TakeExpiredOf(line, until_ns, expired);
  }
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
  ForEachOf(suspects_, visit);
  for (const Line* line : by_index_) ForEachOf(line->waiting, visit);
}

LineView RequestLines::ViewOf(const RequestList& list, const LatencyCurve* curve) {
  const Request* head = list.head();
  if (head == nullptr) return {};
  return {.rows = list.rows(),
          .head_rows = head->rows,
          .head_arrival_ns = head->arrival_ns,
          .head_deadline_ns = head->deadline_ns,
          .head_answer_deadline_ns = head->answer_deadline_ns(),
          .tail_deadline_ns = list.tail()->deadline_ns,
          .curve = curve};
}

const RequestList& RequestLines::ListOf(uint32_t line) const {
  return line == kSuspects ? suspects_ : by_index_[line]->waiting;
}

RequestList* RequestLines::ListOf(uint32_t line) {
  return line == kSuspects ? &suspects_ : &by_index_[line]->waiting;
}

void RequestLines::Show(uint32_t line) {
  if (line != kSuspects) views_[line] = ViewOf(by_index_[line]->waiting, by_index_[line]->curve);
}

RequestLines::Line* RequestLines::LineOf(const Request& request) {
  std::unique_ptr<Line>& entry = lines_[request.key];
  const bool is_new = entry == nullptr;
  if (is_new) entry = std::make_unique<Line>();
  Line* line = entry.get();  // `entry` does not outlive ForgetIdleLines()
  line->last_used = ++use_count_;
  if (!is_new) return line;
  line->curve = curves_.Of(request.key);
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

// The last line takes the place of the one that goes.
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
  const auto check = [](const Request& request) {
    MPSD_CHECK(request.state == RequestState::kQueued);
    MPSD_CHECK(request.next == nullptr || request.next->deadline_ns >= request.deadline_ns);
  };
  for (const auto& entry : lines_) {
    const auto& line = *entry.second;
    MPSD_CHECK(by_index_[line.index] == &line);
    MPSD_CHECK(views_[line.index] == ViewOf(line.waiting, line.curve));
    ForEachOf(line.waiting, [&entry, &check](const Request& request) {
      MPSD_CHECK(!request.suspect && request.key == entry.first);
      check(request);
    });
  }
  ForEachOf(suspects_, [&check](const Request& request) {
    MPSD_CHECK(request.suspect);
    check(request);
  });
}

}  // namespace mpsd

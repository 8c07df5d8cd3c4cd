// Pool: requests that end, or go again, for another reason than an answer.

#include <algorithm>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/dispatch/pool.h"

namespace mpsd {

absl::Status Pool::CrashedItsWorker() { return absl::InternalError("request crashed its worker"); }

bool Pool::DispatchAgain(InflightBatch* batch, WorkerEnd end, bool only_batch, Work* work) {
  const bool alone = only_batch && batch->formed.entries.size() == 1;
  bool struck = false;
  for (const BatchEntry& entry : batch->formed.entries) {
    Request* request = entry.request;
    if (request == nullptr) {
      batcher_.EndRows(entry.place, entry.row_count);
      continue;
    }
    ++request->dispatches;
    if (alone && end == WorkerEnd::kCrashed) {
      struck = true;
      Strike(request, work);
      continue;
    }
    // A client that has some answers of one worker is not given the others of another.
    if (request->dispatches >= kMaxDispatches || request->answers > 0) {
      batcher_.EndRows(entry.place, entry.row_count);
      request->Go(RequestState::kEnded);
      inside_.fetch_sub(1, std::memory_order_relaxed);
      work->ended.emplace_back(request, absl::UnavailableError("worker lost"));
      continue;
    }
    // Twice is no accident: it may be what makes the kernel kill its worker for want of memory.
    request->suspect = request->suspect || end == WorkerEnd::kCrashed || request->dispatches >= 2;
    batcher_.Enqueue(request);
    NoteQueueOf(*request, 1);
    model_->metrics.dispatched_again.fetch_add(1, std::memory_order_relaxed);
  }
  batch->formed.Clear();
  batch->completed.entries.clear();
  return struck;
}

// The request ends, and with it all in the line that hold the same. Its rows stay until Carry() has
// seen what they are, which may take longer than the mutex should be held.
void Pool::Strike(Request* request, Work* work) {
  request->Go(RequestState::kEnded);
  inside_.fetch_sub(1, std::memory_order_relaxed);
  work->ended.emplace_back(request, CrashedItsWorker());
  work->struck = request;
  batcher_.Locate(*request, &work->struck_rows);
  batcher_.TakeEqual(*request, &expired_);
  for (Request* equal : expired_) {
    NoteQueueOf(*equal, -1);
    inside_.fetch_sub(1, std::memory_order_relaxed);
    work->ended.emplace_back(equal, CrashedItsWorker());
  }
  model_->metrics.quarantined_requests.fetch_add(expired_.size(), std::memory_order_relaxed);
  expired_.clear();
}

// Before anyone is told of the strike, so that who asks again is known.
void Pool::RememberStruck(Work* work) {
  const Request& request = *work->struck;
  quarantine_.Add(HashContent(request, work->struck_rows), clock_->NowNs());
  absl::MutexLock lock(&mu_);
  batcher_.EndRows(request.place, request.rows);
  NoteSlabs();
}

// The rows are filled and nobody else's yet, so that they may be read without the mutex.
bool Pool::IsQuarantined(const Request& request) {
  RowTargets rows;
  {
    absl::MutexLock lock(&mu_);
    batcher_.Locate(request, &rows);
  }
  return quarantine_.Holds(HashContent(request, rows), clock_->NowNs());
}

// An answer of the request goes to its client, who says when he can take the next.
void Pool::AwaitContinue(Request* request) {
  request->Go(RequestState::kAnswering);
  ++request->answers;
  answering_.InsertByDeadline(request);
}

void Pool::Continue(Request* request) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(request->state == RequestState::kAnswering);
    answering_.Remove(request);
    if (request->given_up.ok()) {
      batcher_.Enqueue(request);
      NoteQueueOf(*request, 1);
      Dispatch(&work);
    } else {
      request->Go(RequestState::kEnded);
      inside_.fetch_sub(1, std::memory_order_relaxed);
      work.ended.emplace_back(request, request->given_up);
    }
  }
  Carry(&work);
}

// The request ends as soon as its client, or who writes to him, lets go of the answer on its way;
// its rows end now.
void Pool::GiveUp(Request* request, const absl::Status& status) {
  if (!request->given_up.ok()) return;
  batcher_.EndRows(request->place, request->rows);
  request->given_up = status;
}

void Pool::GiveUpAnswering(int64_t now_ns, absl::StatusCode code, absl::string_view text) {
  for (Request* request = answering_.head(); request != nullptr; request = request->next) {
    if (request->deadline_ns > now_ns) return;
    GiveUp(request, absl::Status(code, text));
  }
}

void Pool::Tick() {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    const int64_t now_ns = clock_->NowNs();
    TakeExpiredWaiting(now_ns);
    batcher_.TakeExpired(now_ns, &expired_);
    EndExpired(&expired_, &work);
    ExpireRunning(now_ns, &work);
    GiveUpAnswering(now_ns, absl::StatusCode::kDeadlineExceeded, "Request timeout expired");
    if (!waiting_.empty()) PlaceWaiting(&work);
    Dispatch(&work);
    MeasureRate(now_ns);
    NoteSlabs();
    NoteLinks();
    for (const std::shared_ptr<WorkerLink>& link : links_) NoteWakeups(link.get());
  }
  Carry(&work);
}

void Pool::EndExpired(std::vector<Request*>* expired, Work* work) {
  for (Request* request : *expired) {
    NoteQueueOf(*request, -1);
    inside_.fetch_sub(1, std::memory_order_relaxed);
    work->ended.emplace_back(request, absl::DeadlineExceededError("Request timeout expired"));
  }
  expired->clear();
}

void Pool::ExpireRunning(int64_t now_ns, Work* work) {
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    for (LanePort& port : link->ports()) {
      for (uint32_t place = 0; place < kRingEntries; ++place) {
        if (port.inflight[place] == nullptr) continue;
        for (BatchEntry& entry : port.inflight[place]->formed.entries) {
          if (entry.request == nullptr || entry.request->deadline_ns > now_ns) continue;
          entry.request->Go(RequestState::kEnded);
          inside_.fetch_sub(1, std::memory_order_relaxed);
          work->ended.emplace_back(entry.request,
                                   absl::DeadlineExceededError("Request timeout expired"));
          entry.request = nullptr;
        }
        CancelIfDead(&port, place);
      }
    }
  }
}

// Takes a request out of its running batch. Its rows stay until the batch ends.
bool Pool::AbandonRunning(Request* request) {
  if (request->state != RequestState::kRunning) return false;
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    for (LanePort& port : link->ports()) {
      for (uint32_t place = 0; place < kRingEntries; ++place) {
        if (port.inflight[place] == nullptr) continue;
        for (BatchEntry& entry : port.inflight[place]->formed.entries) {
          if (entry.request != request) continue;
          entry.request = nullptr;
          request->Go(RequestState::kEnded);
          CancelIfDead(&port, place);
          return true;
        }
      }
    }
  }
  return false;
}

// Nobody waits for the batch any more: its slot is abandoned, and the lane may skip it.
void Pool::CancelIfDead(LanePort* port, uint32_t place) {
  InflightBatch* batch = port->inflight[place].get();
  if (batch->slot.state() == SlotState::kAbandoned) return;
  const std::vector<BatchEntry>& entries = batch->formed.entries;
  const auto dead = [](const BatchEntry& entry) { return entry.request == nullptr; };
  if (!std::all_of(entries.begin(), entries.end(), dead)) return;
  batch->slot.Go(SlotState::kAbandoned);
  port->mailbox->records[place].cancelled.store(1, std::memory_order_release);
}

void Pool::FailAll(const char* text) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    TakeExpiredWaiting(INT64_MAX);
    batcher_.TakeAll(&expired_);
    EndExpired(&expired_, &work);
    ExpireRunning(INT64_MAX, &work);
    GiveUpAnswering(INT64_MAX, absl::StatusCode::kUnavailable, text);
    for (auto& [request, status] : work.ended) status = absl::UnavailableError(text);
    NoteSlabs();
  }
  Carry(&work);
}

}  // namespace mpsd

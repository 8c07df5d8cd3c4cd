#include "server/dispatch/pool.h"

#include <utility>

#include "proto/base/check.h"
#include "proto/base/failpoint.h"
#include "server/dispatch/deadline_note.h"
#include "server/request/cancelled_by_client.h"
#include "server/request/no_worker_in_time.h"

namespace mpsd {

Pool::Pool(ServedModel* model, const PoolOptions& options, const Clock* clock,
           CompletionSink* replies, PoolKeeper* keeper, std::unique_ptr<const Scheduler> scheduler)
    : parts_(model, options, clock, keeper, std::move(scheduler)),
      carrier_(&parts_, replies),
      memory_(&parts_, &carrier_),
      workers_(&parts_, &carrier_) {}

Pool::~Pool() { MPSD_CHECK(inside() == 0); }

// ---- requests ----

absl::Status Pool::Reserve(Request* request, RowTargets* targets) {
  EnteringRequest entering;
  entering.request = request;
  ReserveAll({&entering, 1});
  *targets = std::move(entering.targets);
  return std::move(entering.status);
}

void Pool::ReserveAll(absl::Span<EnteringRequest> requests) {
  const bool refuse = MPSD_FAILPOINT_ERRNO("dispatch.reserve") != 0;
  int64_t tick_by_ns = DeferredWork::kNoTick;
  {
    absl::MutexLock lock(&parts_.mu);
    bool others_enter = false;
    for (EnteringRequest& entering : requests) {
      entering.status =
          refuse ? parts_.queue.ledger()->FullError() : Admit(&entering, others_enter, &tick_by_ns);
      others_enter = others_enter || entering.status.ok();
    }
  }
  if (tick_by_ns != DeferredWork::kNoTick) parts_.keeper->WakeBy(tick_by_ns);
}

absl::Status Pool::Admit(EnteringRequest* entering, bool others_enter, int64_t* tick_by_ns) {
  Request* const request = entering->request;
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) bytes += input.Bytes(request->rows);
  if (parts_.closed) return absl::AbortedError("the model was replaced");
  // The others have no batch yet, and may leave room.
  if (others_enter && parts_.queue.ledger()->IsFull(*request, bytes)) {
    return absl::AbortedError("others enter first");
  }
  if (parts_.inflight.workers().empty() && request->deadline_ns <= parts_.worker_expected_ns) {
    return NoWorkerInTime(parts_.model->name);
  }
  absl::Status status = parts_.RefusalInAdvance(request);
  const double full_share = parts_.queue.ledger()->FullShare(*request);
  if (status.ok()) status = parts_.queue.Admit(request, bytes, &entering->targets, tick_by_ns);
  // An arriving request that finds no room is refused later, if at all.
  const bool is_refused = absl::IsResourceExhausted(status) && !request->is_arriving;
  if (status.ok() || is_refused) {
    parts_.saturation.Note(is_refused ? 1 : full_share, parts_.clock->NowNs());
  }
  if (!status.ok()) return status;
  request->queue = this;
  parts_.inside.Add();
  return absl::OkStatus();
}

void Pool::Continue(Request* request) {
  DeferredWork work(&parts_.inside);
  {
    absl::MutexLock lock(&parts_.mu);
    parts_.answering.Remove(request);
    if (request->given_up.ok()) {
      request->AwaitFurther(parts_.clock->NowNs());
      parts_.queue.Return(request);
      parts_.dispatcher.Dispatch(&work);
    } else {
      work.End(request, request->given_up);
    }
  }
  carrier_.Carry(&work);
}

void Pool::Cancel(Request* request) {
  DeferredWork work(&parts_.inside);
  {
    absl::MutexLock lock(&parts_.mu);
    switch (request->state) {
      case RequestState::kReserved:
        request->cancelled = true;  // another thread fills its rows: Commit() ends it
        return;
      case RequestState::kWaiting:
      case RequestState::kQueued:
      case RequestState::kHeld:
        NoteUnanswered(*request, parts_.clock->NowNs(), &parts_.margin);
        parts_.queue.Remove(request);
        work.End(request, CancelledByClient());
        parts_.dispatcher.NoteLeft(&work);
        break;
      case RequestState::kRunning:
        NoteUnanswered(*request, parts_.clock->NowNs(), &parts_.margin);
        parts_.inflight.Abandon(request);
        work.End(request, CancelledByClient());
        break;
      case RequestState::kAnswering:
        parts_.answering.GiveUp(request, CancelledByClient());
        return;
      case RequestState::kNew:
      case RequestState::kEnded:
        return;
    }
  }
  carrier_.Carry(&work);
}

void Pool::Close() {
  DeferredWork work(&parts_.inside);
  {
    absl::MutexLock lock(&parts_.mu);
    parts_.closed = true;
    parts_.queue.HoldNoMore();
    parts_.queue.TakeHeld(INT64_MAX, &parts_.taken);
    for (Request* request : parts_.taken) {
      work.End(request, LargerWorkerStarts(request->output_bytes));
    }
    parts_.taken.clear();
  }
  carrier_.Carry(&work);
}

std::vector<RefusedContent> Pool::RefusedContents() {
  return parts_.quarantine.Contents(parts_.clock->NowNs());
}

size_t Pool::ForgiveContents() { return parts_.quarantine.Forgive(); }

// ---- completions and time ----

size_t Pool::Drain(bool after_timeout) {
  DeferredWork work(&parts_.inside);
  work.after_timeout = after_timeout;
  {
    absl::MutexLock lock(&parts_.mu);
    parts_.intake.Take(&work);
    parts_.queue.PlaceWaiting(&work.fills, &work.tick_by_ns);
    parts_.dispatcher.Dispatch(&work);
    parts_.queue.NoteSlabs();
  }
  const size_t count = work.completed.size();
  carrier_.Carry(&work);
  return count;
}

void Pool::NoteAnnounced() {
  absl::MutexLock lock(&parts_.mu);
  const auto lanes = static_cast<uint32_t>(parts_.inflight.lanes().size());
  for (uint32_t lane = 0; lane < lanes; ++lane) parts_.inflight.port(lane)->NoteAnnounced();
}

void Pool::SetParked(bool parked) {
  absl::MutexLock lock(&parts_.mu);
  const auto workers = static_cast<uint32_t>(parts_.inflight.workers().size());
  for (uint32_t worker = 0; worker < workers; ++worker) {
    parts_.inflight.worker(worker).link->SetParked(parked);
  }
}

void Pool::SetCoresAreLeft(bool cores_are_left) {
  absl::MutexLock lock(&parts_.mu);
  const auto workers = static_cast<uint32_t>(parts_.inflight.workers().size());
  for (uint32_t worker = 0; worker < workers; ++worker) {
    parts_.inflight.worker(worker).link->SetCoresAreLeft(cores_are_left);
  }
}

void Pool::Tick() {
  DeferredWork work(&parts_.inside);
  const int64_t now_ns = parts_.clock->NowNs();
  {
    absl::MutexLock lock(&parts_.mu);
    EndExpired(now_ns, absl::StatusCode::kDeadlineExceeded, "Request timeout expired", &work);
    parts_.queue.PlaceWaiting(&work.fills, &work.tick_by_ns);
    parts_.dispatcher.Dispatch(&work);
    parts_.queue.ledger()->rate()->Measure(now_ns);
    parts_.queue.NoteSlabs();
    parts_.link_gauges.Note(parts_.inflight);
    parts_.link_gauges.NoteCounts(parts_.inflight);
    parts_.NoteLoad(now_ns);
  }
  carrier_.Carry(&work);
  if (parts_.watcher != nullptr) parts_.watcher->Tick(now_ns);
}

void Pool::FailAll(const char* text) {
  if (parts_.watcher != nullptr) parts_.watcher->FailAll(text);
  DeferredWork work(&parts_.inside);
  {
    absl::MutexLock lock(&parts_.mu);
    EndExpired(INT64_MAX, absl::StatusCode::kUnavailable, text, &work);
    parts_.dispatcher.NoteLeft(&work);
    parts_.queue.NoteSlabs();
  }
  carrier_.Carry(&work);
}

void Pool::EndExpired(int64_t until_ns, absl::StatusCode code, const char* text,
                      DeferredWork* work) {
  std::vector<Request*>* taken = &parts_.taken;
  parts_.queue.TakeExpired(until_ns, taken);
  parts_.inflight.TakeExpired(until_ns, taken);
  if (code == absl::StatusCode::kDeadlineExceeded) {
    if (!taken->empty()) parts_.saturation.Note(1, until_ns);
    for (const Request* request : *taken) NoteUnanswered(*request, until_ns, &parts_.margin);
  }
  // A status takes heap memory, so it is made only if there is a request to end.
  if (!taken->empty()) work->EndAll(taken, absl::Status(code, text));
  if (!parts_.answering.empty()) parts_.answering.GiveUpExpired(until_ns, absl::Status(code, text));
}

}  // namespace mpsd

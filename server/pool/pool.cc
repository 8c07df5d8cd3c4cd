#include "server/pool/pool.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/failpoint.h"
#include "server/pool/pool_carrier.h"
#include "server/pool/pool_memory.h"
#include "server/pool/pool_parts.h"
#include "server/pool/pool_workers.h"
#include "server/request/pool_watcher.h"

namespace mpsd {
namespace {

absl::Status Admit(PoolParts* parts, EnteringRequest* entering, bool others_enter,
                   int64_t* tick_by_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts->mu) {
  Request* const request = entering->request;
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) bytes += input.Bytes(request->rows);
  if (parts->closed) return absl::AbortedError("the model was replaced");
  // The others have no batch yet, and may leave room.
  if (others_enter && parts->queue.ledger()->IsFull(*request, bytes)) {
    return absl::AbortedError("others enter first");
  }
  if (parts->inflight.workers().empty() && request->expiry_ns() <= parts->worker_expected_ns) {
    return NoWorkerInTime(parts->facts.model->name);
  }
  absl::Status status = parts->RefusalInAdvance(request);
  const double full_share = parts->queue.ledger()->FullShare(*request);
  if (status.ok()) status = parts->queue.Admit(request, bytes, &entering->targets, tick_by_ns);
  // An arriving request that finds no room is refused later, if at all.
  const bool is_refused = absl::IsResourceExhausted(status) && !request->is_arriving;
  if (status.ok() || is_refused) {
    parts->forecasts.saturation.Note(is_refused ? 1 : full_share, parts->facts.clock->NowNs());
  }
  if (!status.ok()) return status;
  parts->inside.Add();
  return absl::OkStatus();
}

// A partly answered request ends once its answer is taken.
void EndExpired(PoolParts* parts, int64_t until_ns, absl::StatusCode code, const char* text,
                DeferredWork* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts->mu) {
  std::vector<Request*>* taken = &parts->taken;
  parts->queue.TakeExpired(until_ns, taken);
  parts->inflight.TakeExpired(until_ns, taken);
  if (code == absl::StatusCode::kDeadlineExceeded) {
    if (!taken->empty()) parts->forecasts.saturation.Note(1, until_ns);
    for (const Request* request : *taken) parts->forecasts.Left(*request, until_ns);
  }
  // A status takes heap memory, so it is made only if needed.
  if (!taken->empty()) work->EndAll(taken, absl::Status(code, text));
  AnsweringList* const answering = parts->intake.answering();
  if (!answering->empty()) answering->GiveUpExpired(until_ns, absl::Status(code, text));
}

}  // namespace

Pool::Pool(ServedModel* model, const PoolOptions& options, const Clock* clock,
           CompletionSink* replies, PoolKeeper* keeper)
    : parts_(std::make_unique<PoolParts>(PoolFacts{model, options, clock, keeper})),
      carrier_(std::make_unique<PoolCarrier>(parts_.get(), replies)),
      memory_(std::make_unique<PoolMemory>(parts_.get(), carrier_.get())),
      workers_(std::make_unique<PoolWorkers>(parts_.get(), carrier_.get())) {}

Pool::~Pool() { MPSD_CHECK(inside() == 0); }

void Pool::Watch(PoolWatcher* watcher) { parts_->watcher = watcher; }

int64_t Pool::inside() const { return parts_->inside.get(); }

bool Pool::busy() const {
  return parts_->facts.model->metrics.running_batches.load(std::memory_order_relaxed) > 0;
}

void Pool::CheckInvariants() const { parts_->CheckInvariants(); }

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
    absl::MutexLock lock(&parts_->mu);
    bool others_enter = false;
    for (EnteringRequest& entering : requests) {
      entering.status = refuse ? parts_->queue.ledger()->FullError()
                               : Admit(parts_.get(), &entering, others_enter, &tick_by_ns);
      if (!entering.status.ok()) continue;
      entering.request->queue = this;
      others_enter = true;
    }
  }
  if (tick_by_ns != DeferredWork::kNoTick) parts_->facts.keeper->WakeBy(tick_by_ns);
}

void Pool::CommitAll(absl::Span<Request* const> requests) { carrier_->CommitAll(requests); }

void Pool::Continue(Request* request) {
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    parts_->intake.answering()->Remove(request);
    if (request->given_up.ok()) {
      request->AwaitFurther(parts_->facts.clock->NowNs());
      parts_->queue.Return(request);
      parts_->dispatcher.Dispatch(&work);
    } else {
      work.End(request, request->given_up);
    }
  }
  carrier_->Carry(&work);
}

void Pool::Cancel(Request* request) {
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    switch (request->state) {
      case RequestState::kReserved:
        request->cancelled = true;  // another thread fills its rows: Commit() ends it
        return;
      case RequestState::kWaiting:
      case RequestState::kQueued:
      case RequestState::kHeld:
        parts_->forecasts.Left(*request, parts_->facts.clock->NowNs());
        parts_->queue.Remove(request);
        work.End(request, CancelledByClient());
        parts_->dispatcher.NoteLeft(&work);
        break;
      case RequestState::kRunning:
        parts_->forecasts.Left(*request, parts_->facts.clock->NowNs());
        parts_->inflight.Abandon(request);
        work.End(request, CancelledByClient());
        break;
      case RequestState::kAnswering:
        parts_->intake.answering()->GiveUp(request, CancelledByClient());
        return;
      case RequestState::kNew:
      case RequestState::kEnded:
        return;
    }
  }
  carrier_->Carry(&work);
}

void Pool::Close() {
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    parts_->closed = true;
    parts_->queue.HoldNoMore();
    parts_->queue.TakeHeld(INT64_MAX, &parts_->taken);
    for (Request* request : parts_->taken) {
      work.End(request, LargerWorkerStarts(request->output_bytes));
    }
    parts_->taken.clear();
  }
  carrier_->Carry(&work);
}

std::vector<RefusedContent> Pool::RefusedContents() {
  return parts_->quarantine.Contents(parts_->facts.clock->NowNs());
}

size_t Pool::ForgiveContents() { return parts_->quarantine.Forgive(); }

// ---- completions and time ----

size_t Pool::Drain(bool after_timeout) {
  DeferredWork work(&parts_->inside);
  work.after_timeout = after_timeout;
  {
    absl::MutexLock lock(&parts_->mu);
    parts_->intake.Take(&work);
    parts_->queue.PlaceWaiting(&work.fills, &work.tick_by_ns);
    parts_->dispatcher.Dispatch(&work);
    parts_->queue.NoteSlabs();
  }
  const size_t count = work.completed.size();
  carrier_->Carry(&work);
  return count;
}

void Pool::NoteAnnounced() {
  absl::MutexLock lock(&parts_->mu);
  const auto lanes = static_cast<uint32_t>(parts_->inflight.lanes().size());
  for (uint32_t lane = 0; lane < lanes; ++lane) parts_->inflight.port(lane)->NoteAnnounced();
}

void Pool::SetParked(bool parked) {
  absl::MutexLock lock(&parts_->mu);
  const auto workers = static_cast<uint32_t>(parts_->inflight.workers().size());
  for (uint32_t worker = 0; worker < workers; ++worker) {
    parts_->inflight.worker(worker).link->SetParked(parked);
  }
}

void Pool::SetCoresAreLeft(bool cores_are_left) {
  absl::MutexLock lock(&parts_->mu);
  const auto workers = static_cast<uint32_t>(parts_->inflight.workers().size());
  for (uint32_t worker = 0; worker < workers; ++worker) {
    parts_->inflight.worker(worker).link->SetCoresAreLeft(cores_are_left);
  }
}

void Pool::Tick() {
  DeferredWork work(&parts_->inside);
  const int64_t now_ns = parts_->facts.clock->NowNs();
  {
    absl::MutexLock lock(&parts_->mu);
    EndExpired(parts_.get(), now_ns, absl::StatusCode::kDeadlineExceeded, "Request timeout expired",
               &work);
    parts_->queue.PlaceWaiting(&work.fills, &work.tick_by_ns);
    parts_->dispatcher.Dispatch(&work);
    parts_->queue.ledger()->rate()->Measure(now_ns);
    parts_->queue.NoteSlabs();
    parts_->link_gauges.Note(parts_->inflight);
    parts_->link_gauges.NoteCounts(parts_->inflight);
    parts_->NoteLoad(now_ns);
  }
  carrier_->Carry(&work);
  if (parts_->watcher != nullptr) parts_->watcher->Tick(now_ns);
}

void Pool::FailAll(const char* text) {
  if (parts_->watcher != nullptr) parts_->watcher->FailAll(text);
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    EndExpired(parts_.get(), INT64_MAX, absl::StatusCode::kUnavailable, text, &work);
    parts_->dispatcher.NoteLeft(&work);
    parts_->queue.NoteSlabs();
  }
  carrier_->Carry(&work);
}

}  // namespace mpsd

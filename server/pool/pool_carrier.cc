#include "server/pool/pool_carrier.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "proto/base/failpoint.h"

namespace mpsd {

void PoolCarrier::Carry(DeferredWork* work) {
  if (work->tick_by_ns != DeferredWork::kNoTick) parts_->facts.keeper->WakeBy(work->tick_by_ns);
  for (const auto& [link, port] : work->wakes) port->bell.Wake();
  if (work->others_may_run) parts_->facts.keeper->WakePools();
  if (!work->completed.empty()) MPSD_FAILPOINT("complete.before_reply");
  for (const std::unique_ptr<InflightBatch>& batch : work->completed) {
    batch->life.Go(SlotState::kReplying);
    RememberAnswered(batch->completed);
    replies_->Complete(batch->completed);
  }
  if (work->struck != nullptr) RememberStruck(work);
  for (auto& [request, status] : work->ended) request->reply.Fail(status);
  Recycle(work);
  for (const auto& [request, targets] : work->fills) {
    request->filler->Fill(parts_->facts.model->spec, *request, targets);
    CommitAll({&request, 1});
  }
}

void PoolCarrier::CommitAll(absl::Span<Request* const> requests) {
  DeferredWork work(&parts_->inside);
  Quarantine* const quarantine = &parts_->quarantine;
  const bool has_quarantined = !quarantine->empty();
  absl::InlinedVector<Request*, 2> quarantined;
  // Nobody else touches the rows yet, so they are read without the mutex.
  for (Request* const request : requests) {
    request->content = SampleContent(*request);
    if (has_quarantined && quarantine->Holds(HashContent(*request), parts_->facts.clock->NowNs())) {
      quarantined.push_back(request);
    }
  }
  {
    absl::MutexLock lock(&parts_->mu);
    const int64_t now_ns = parts_->facts.clock->NowNs();
    for (Request* const request : requests) {
      Join(request, absl::c_linear_search(quarantined, request), now_ns, &work);
    }
    // Needed even without a request: a claim that waited for it alone stops waiting.
    parts_->dispatcher.DispatchAt(now_ns, &work);
  }
  Carry(&work);
}

void PoolCarrier::Join(Request* request, bool is_quarantined, int64_t now_ns, DeferredWork* work) {
  parts_->queue.Commit(request);
  parts_->forecasts.returns.Arrived(now_ns);
  if (request->cancelled) {
    parts_->queue.Remove(request);
    work->End(request, CancelledByClient());
  } else if (is_quarantined) {
    parts_->queue.Remove(request);
    work->End(request, WorkerLoss::CrashedItsWorker());
    parts_->facts.model->metrics.quarantined_requests.fetch_add(1, std::memory_order_relaxed);
  }
}

// A row that the model has refused is an answer too: the worker has survived.
void PoolCarrier::RememberAnswered(const CompletedBatch& batch) {
  if (!batch.failure.ok() || batch.part == AnswerPart::kOneOfMany) return;
  for (const BatchEntry& entry : batch.entries) {
    if (entry.request != nullptr) parts_->quarantine.NoteAnswered(entry.request->content);
  }
}

void PoolCarrier::RememberStruck(DeferredWork* work) {
  const Request& request = *work->struck;
  parts_->quarantine.Add(HashContent(request), parts_->facts.clock->NowNs());
  absl::MutexLock lock(&parts_->mu);
  parts_->loss.EndStruckRows(request);
}

// The batches drop their own references on leases; answers may hold others.
void PoolCarrier::Recycle(DeferredWork* work) {
  if (work->completed.empty()) return;
  for (const std::unique_ptr<InflightBatch>& batch : work->completed) {
    std::exchange(batch->lease, nullptr)->Unref();
  }
  absl::MutexLock lock(&parts_->mu);
  for (std::unique_ptr<InflightBatch>& batch : work->completed) {
    parts_->dispatcher.Recycle(std::move(batch));
  }
  parts_->link_gauges.Note(parts_->inflight);
}

}  // namespace mpsd

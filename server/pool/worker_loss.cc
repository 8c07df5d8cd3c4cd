#include "server/pool/worker_loss.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "server/request/served_model.h"

namespace mpsd {

absl::Status WorkerLoss::CrashedItsWorker() {
  return absl::InternalError("request crashed its worker");
}

Conviction WorkerLoss::TakeBatches(uint32_t worker, WorkerEnd end, DeferredWork* work) {
  const WorkerView view = inflight_->workers()[worker];
  const uint32_t lanes = inflight_->worker(worker).link->lanes();
  const bool only_batch = view.batches == 1;
  Conviction conviction = Conviction::kNone;
  for (uint32_t lane = view.first_lane; lane < view.first_lane + lanes; ++lane) {
    inflight_->ForEachOf(lane, [&](InflightTable::Position position, InflightBatch* batch) {
      batch->life.Go(SlotState::kDead);
      conviction = std::max(conviction, Take(batch, end, only_batch, work));
      claims_->GiveBack(batch, work);
      work->completed.push_back(inflight_->TakeOut(position));
    });
  }
  return conviction;
}

Conviction WorkerLoss::Take(InflightBatch* batch, WorkerEnd end, bool only_batch,
                            DeferredWork* work) {
  const bool was_alone = only_batch && batch->formed.entries.size() == 1;
  const bool is_suspicious = was_alone && end == WorkerEnd::kCrashed;
  Conviction conviction = is_suspicious ? Conviction::kSuspicion : Conviction::kNone;
  for (const BatchEntry& entry : batch->formed.entries) {
    Request* request = entry.request;
    if (request == nullptr) {
      queue_->EndRows(entry.place, entry.row_count);
      continue;
    }
    const LossVerdict verdict = Judge(request, end, was_alone);
    switch (verdict) {
      case LossVerdict::kStrike:
        conviction = Strike(request, work);
        break;
      case LossVerdict::kWorkerLost:
        queue_->EndRows(entry.place, entry.row_count);
        work->End(request, absl::UnavailableError("worker lost"));
        break;
      case LossVerdict::kAgain:
      case LossVerdict::kAgainSuspect:
        request->suspect = verdict == LossVerdict::kAgainSuspect;
        queue_->Return(request);
        facts_->model->metrics.dispatched_again.fetch_add(1, std::memory_order_relaxed);
        break;
    }
  }
  batch->formed.Clear();
  batch->completed.entries.clear();
  return conviction;
}

LossVerdict WorkerLoss::Judge(Request* request, WorkerEnd end, bool was_alone) {
  const bool crashed = end == WorkerEnd::kCrashed;
  ++request->dispatches;
  bool has_crashed_before = request->crashes > 0;
  if (crashed) ++request->crashes;
  // Counts even if another request has brought the same content.
  if (crashed && was_alone && quarantine_->NoteDeath(request->content, facts_->clock->NowNs())) {
    has_crashed_before = true;
  }
  return JudgeLoss({end, was_alone, request->suspect, has_crashed_before, request->dispatches,
                    request->answers, request->pin != 0});
}

// Ends all queued requests with the same content too. The rows stay until PoolCarrier::Carry() has
// hashed them, which may take longer than the mutex should be held.
Conviction WorkerLoss::Strike(Request* request, DeferredWork* work) {
  MPSD_CHECK(work->struck == nullptr);
  work->End(request, CrashedItsWorker());
  if (quarantine_->WasAnswered(request->content)) {
    queue_->EndRows(request->place, request->rows);
    return Conviction::kRequest;
  }
  work->struck = request;
  struck_rows_ += request->rows;
  queue_->TakeEqual(*request, &equal_);
  facts_->model->metrics.quarantined_requests.fetch_add(equal_.size(), std::memory_order_relaxed);
  work->EndAll(&equal_, CrashedItsWorker());
  return Conviction::kContent;
}

void WorkerLoss::EndStruckRows(const Request& request) {
  MPSD_CHECK(struck_rows_ >= request.rows);
  struck_rows_ -= request.rows;
  queue_->EndRows(request.place, request.rows);
  queue_->NoteSlabs();
}

}  // namespace mpsd

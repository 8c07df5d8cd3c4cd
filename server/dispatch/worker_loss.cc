#include "server/dispatch/worker_loss.h"

#include <utility>

#include "proto/base/check.h"
#include "server/dispatch/loss_policy.h"

namespace mpsd {

absl::Status WorkerLoss::CrashedItsWorker() {
  return absl::InternalError("request crashed its worker");
}

bool WorkerLoss::TakeBatches(uint32_t worker, WorkerEnd end, DeferredWork* work) {
  const WorkerView view = inflight_->workers()[worker];
  const uint32_t lanes = inflight_->worker(worker).link->lanes();
  const bool only_batch = view.batches == 1;
  bool struck = false;
  for (uint32_t lane = view.first_lane; lane < view.first_lane + lanes; ++lane) {
    inflight_->ForEachOf(lane, [&](InflightTable::Position position, InflightBatch* batch) {
      batch->life.Go(SlotState::kDead);
      struck |= Take(batch, end, only_batch, work);
      claims_->GiveBack(batch, work);
      work->completed.push_back(inflight_->TakeOut(position));
    });
  }
  return struck;
}

bool WorkerLoss::Take(InflightBatch* batch, WorkerEnd end, bool only_batch, DeferredWork* work) {
  const bool was_alone = only_batch && batch->formed.entries.size() == 1;
  bool struck = false;
  for (const BatchEntry& entry : batch->formed.entries) {
    Request* request = entry.request;
    if (request == nullptr) {
      queue_->EndRows(entry.place, entry.row_count);
      continue;
    }
    ++request->dispatches;
    const LossVerdict verdict = JudgeLoss({end, was_alone, request->suspect, request->dispatches,
                                           request->answers, request->pin != 0});
    switch (verdict) {
      case LossVerdict::kStrike:
        struck = true;
        Strike(request, work);
        break;
      case LossVerdict::kWorkerLost:
        queue_->EndRows(entry.place, entry.row_count);
        work->End(request, absl::UnavailableError("worker lost"));
        break;
      case LossVerdict::kAgain:
      case LossVerdict::kAgainSuspect:
        request->suspect = verdict == LossVerdict::kAgainSuspect;
        queue_->Return(request);
        model_->metrics.dispatched_again.fetch_add(1, std::memory_order_relaxed);
        break;
    }
  }
  batch->formed.Clear();
  batch->completed.entries.clear();
  return struck;
}

// The request ends, and with it all queued ones that hold the same. Its rows stay until
// PoolCarrier::Carry() has hashed them, which may take longer than the mutex should be held.
void WorkerLoss::Strike(Request* request, DeferredWork* work) {
  MPSD_CHECK(work->struck == nullptr);
  work->End(request, CrashedItsWorker());
  work->struck = request;
  queue_->batcher().Locate(*request, &work->struck_rows);
  struck_rows_ += request->rows;
  queue_->TakeEqual(*request, &equal_);
  model_->metrics.quarantined_requests.fetch_add(equal_.size(), std::memory_order_relaxed);
  work->EndAll(&equal_, CrashedItsWorker());
}

void WorkerLoss::EndStruckRows(const Request& request) {
  MPSD_CHECK(struck_rows_ >= request.rows);
  struck_rows_ -= request.rows;
  queue_->EndRows(request.place, request.rows);
  queue_->NoteSlabs();
}

}  // namespace mpsd

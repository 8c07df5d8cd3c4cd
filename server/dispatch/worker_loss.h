// WorkerLoss: what a dead worker leaves behind goes again, or ends.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/base/clock.h"
#include "server/dispatch/deferred_work.h"
#include "server/dispatch/inflight_table.h"
#include "server/dispatch/loss_policy.h"
#include "server/dispatch/pool_claims.h"
#include "server/dispatch/pool_queue.h"
#include "server/dispatch/quarantine.h"
#include "server/lanes/worker_progress.h"
#include "server/request/served_model.h"

namespace mpsd {

// Carries out what loss_policy.h says, for each request of each batch that the worker had. Owned by
// a pool. Thread-compatible: guarded by the pool's mutex. Rows that go again stay where they are:
// no payload is copied a second time.
//
// What an entry of a lost batch can be, and how it goes on:
//   a hole, whose request has ended   its rows end
//   kAgain, kAgainSuspect             joins its line, or the suspects, in the order of deadlines
//   kWorkerLost                       its rows end; UNAVAILABLE "worker lost"
//   kStrike                           INTERNAL "request crashed its worker"; its rows end later
//
// A request that is struck takes all queued requests along that hold the same: a client that sends
// a deadly request a hundred times costs two workers. Its rows stay live until PoolCarrier has
// hashed them for the quarantine, without the mutex; EndStruckRows() ends them. Where its content
// has been answered before, the request ends alone: the next one that holds it may be answered.
class WorkerLoss {
 public:
  // All outlive this.
  WorkerLoss(ServedModel* model, const Clock* clock, PoolQueue* queue, InflightTable* inflight,
             PoolClaims* claims, Quarantine* quarantine)
      : model_(model),
        clock_(clock),
        queue_(queue),
        inflight_(inflight),
        claims_(claims),
        quarantine_(quarantine) {}

  // Takes all batches of a worker that is confirmed dead, and gives them to `work` without their
  // entries, so that their leases come back; the resources that they held are free. Returns what
  // the death was put down to: one request at most. REQUIRES: the completions that the worker
  // published were taken.
  Conviction TakeBatches(uint32_t worker, WorkerEnd end, DeferredWork* work);

  // What is in the rows of a struck request is known: the rows end.
  void EndStruckRows(const Request& request);

  // How a request ends that has crashed its worker, or holds the same as one that has.
  static absl::Status CrashedItsWorker();

  // The rows of struck requests that are still live.
  uint64_t struck_rows() const { return struck_rows_; }

 private:
  Conviction Take(InflightBatch* batch, WorkerEnd end, bool only_batch, DeferredWork* work);
  LossVerdict Judge(Request* request, WorkerEnd end, bool was_alone);
  Conviction Strike(Request* request, DeferredWork* work);

  ServedModel* const model_;
  const Clock* const clock_;
  PoolQueue* const queue_;
  InflightTable* const inflight_;
  PoolClaims* const claims_;
  Quarantine* const quarantine_;
  uint64_t struck_rows_ = 0;
  std::vector<Request*> equal_;  // scratch
};

}  // namespace mpsd

// WorkerLoss: has a dead worker's requests run again, or ends them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/pool/deferred_work.h"
#include "server/pool/inflight_table.h"
#include "server/pool/lanes/worker_progress.h"
#include "server/pool/loss_policy.h"
#include "server/pool/pool_claims.h"
#include "server/pool/pool_facts.h"
#include "server/pool/pool_queue.h"
#include "server/pool/quarantine.h"

namespace mpsd {

// Carries out loss_policy.h. Thread-compatible: its pool's mutex guards it. Rows that go again stay
// in place.
//
// The entries of a lost batch, and what follows:
//   a hole, whose request has ended   its rows end
//   kAgain, kAgainSuspect             joins its line, or the suspects, in the order of deadlines
//   kWorkerLost                       its rows end; UNAVAILABLE "worker lost"
//   kStrike                           INTERNAL "request crashed its worker"; its rows end later
//
// A struck request takes queued requests with the same content along: a client that sends a deadly
// request a hundred times costs two workers. If the content was answered before, the request ends
// alone.
class WorkerLoss {
 public:
  WorkerLoss(const PoolFacts* facts, PoolQueue* queue, InflightTable* inflight, PoolClaims* claims,
             Quarantine* quarantine)
      : facts_(facts),
        queue_(queue),
        inflight_(inflight),
        claims_(claims),
        quarantine_(quarantine) {}

  // Takes all batches of a dead worker. `work` gets them without entries, so that their leases come
  // back. Returns the cause of death: at most one request. REQUIRES: the completions that the
  // worker published were taken.
  Conviction TakeBatches(uint32_t worker, WorkerEnd end, DeferredWork* work);

  // PoolCarrier has hashed the content.
  void EndStruckRows(const Request& request);

  static absl::Status CrashedItsWorker();

  uint64_t struck_rows() const { return struck_rows_; }

 private:
  Conviction Take(InflightBatch* batch, WorkerEnd end, bool only_batch, DeferredWork* work);
  LossVerdict Judge(Request* request, WorkerEnd end, bool was_alone);
  Conviction Strike(Request* request, DeferredWork* work);

  const PoolFacts* const facts_;
  PoolQueue* const queue_;
  InflightTable* const inflight_;
  PoolClaims* const claims_;
  Quarantine* const quarantine_;
  uint64_t struck_rows_ = 0;
  std::vector<Request*> equal_;  // scratch
};

}  // namespace mpsd

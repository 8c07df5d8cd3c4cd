// CompletionIntake: takes completed batches from the lanes.
#pragma once

#include <cstdint>

#include "server/pool/answering_list.h"
#include "server/pool/deferred_work.h"
#include "server/pool/inflight_table.h"
#include "server/pool/lanes/completion_reader.h"
#include "server/pool/pool_claims.h"
#include "server/pool/pool_facts.h"
#include "server/pool/pool_forecasts.h"
#include "server/pool/pool_queue.h"

namespace mpsd {

// Step 11 of a request's life. Owned by a pool. Thread-compatible: guarded by the pool's mutex. It
// checks everything that a worker says: a lie condemns the worker, and no completion of a condemned
// worker is taken.
//
// A batch with a true completion ends in one of these ways:
//   answered          its requests end, and get their replies from PoolCarrier
//   answered in part  (decoupled models) its requests wait in the AnsweringList
//   needs more room   the lease was too small: its requests join their lines again, the estimate
//                     grows; refused where the worker has no lease so large, until another worker
//                     has, and for ever beyond PoolOptions::max_answer_bytes
//   abandoned         nobody waits for it: its rows end
//   of no use         it has a request whose call cannot be in time as a whole: the request is
//                     refused instead, so that the call ends and the rest is not computed
// In each case the slot is free again, and so are the batch's resources: the lane may get its next
// batch.
class CompletionIntake {
 public:
  // All outlive the intake.
  CompletionIntake(const PoolFacts* facts, PoolQueue* queue, InflightTable* inflight,
                   PoolClaims* claims, PoolForecasts* forecasts)
      : facts_(facts),
        queue_(queue),
        inflight_(inflight),
        claims_(claims),
        forecasts_(forecasts),
        answering_(queue) {}

  // Take completions of all workers, or of one.
  void Take(DeferredWork* work);
  void TakeOf(uint32_t worker, DeferredWork* work);

  AnsweringList* answering() { return &answering_; }
  const AnsweringList& answering() const { return answering_; }

 private:
  bool TakeOne(uint32_t lane, DeferredWork* work);
  ExpectedCompletion Expect(const InflightBatch& batch, const WorkerLink& link,
                            int64_t now_ns) const;
  void CountCompletion(const InflightBatch& batch, uint32_t worker);
  int64_t NoteTime(InflightTable::Position position, const InflightBatch& batch, int64_t now_ns);
  void RetryWithLargerLease(InflightBatch* batch, uint64_t needed_bytes, const WorkerLink& link,
                            DeferredWork* work);
  bool MayWait(const Request& request, const absl::Status& refusal) const;
  void AwaitLargerWorker(Request* request, uint64_t needed_bytes, DeferredWork* work);
  absl::Status RefusalToRetry(const FormedBatch& formed, uint64_t needed_bytes, bool fits) const;
  void EndEntries(InflightBatch* batch, int64_t now_ns, DeferredWork* work);
  void RefuseLateCalls(InflightBatch* batch, int64_t took_ns, int64_t now_ns, DeferredWork* work);
  int64_t RestLateNs(const Request& request, const InflightBatch& batch, int64_t took_ns,
                     int64_t now_ns) const;

  const PoolFacts* const facts_;
  PoolQueue* const queue_;
  InflightTable* const inflight_;
  PoolClaims* const claims_;
  PoolForecasts* const forecasts_;
  AnsweringList answering_;
};

// The ending of a request whose outputs no worker can hold. A larger worker may come, but the
// request cannot wait for it:
absl::Status LargerWorkerStarts(uint64_t bytes);
// No larger worker can come:
absl::Status NoMemoryForOutputs(uint64_t bytes);

}  // namespace mpsd

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

// Step 11 of a request. Thread-compatible: its pool's mutex guards it. A lie condemns the worker,
// and none of its completions is taken any more.
//
// A true completion frees the slot and its resources, and ends the batch in one of these ways:
//   answered          its requests end, and PoolCarrier gives the replies
//   answered in part  (decoupled models) its requests wait in the AnsweringList
//   needs more room   its requests go again with a larger lease: see RetryWithLargerLease()
//   abandoned         nobody waits for it: its rows end
//   of no use         the call of one of its requests will be late as a whole: the request is
//                     refused, so that the rest is not computed
class CompletionIntake {
 public:
  CompletionIntake(const PoolFacts* facts, PoolQueue* queue, InflightTable* inflight,
                   PoolClaims* claims, PoolForecasts* forecasts)
      : facts_(facts),
        queue_(queue),
        inflight_(inflight),
        claims_(claims),
        forecasts_(forecasts),
        answering_(queue) {}

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
  void NoteOutputs(const FormedBatch& formed, uint64_t bytes, const WorkerLink& link);
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

// Ends a request whose answer needs a larger worker, which may come too late.
absl::Status LargerWorkerStarts(uint64_t bytes);
// Ends one for which no larger worker can come.
absl::Status NoMemoryForOutputs(uint64_t bytes);

}  // namespace mpsd

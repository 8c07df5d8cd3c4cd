// Dispatcher: carries out the scheduler's decisions, from the queue to the lanes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/pool/deferred_work.h"
#include "server/pool/inflight_table.h"
#include "server/pool/pool_claims.h"
#include "server/pool/pool_facts.h"
#include "server/pool/pool_forecasts.h"
#include "server/pool/pool_queue.h"
#include "server/pool/schedule/scheduler.h"

namespace mpsd {

// Step 7 of a request. Thread-compatible: its pool's mutex guards it. It decides nothing.
//
// A batch's way:
//    take its resources (PoolClaims) → form it from its line → lease room for its outputs →
//    write the record of a free slot → push the slot's number into the lane's ring →
//    note the lane's bell in DeferredWork
//
// The scheduler's views show missing resources or room. Without room the requests go back into
// their lines.
class Dispatcher {
 public:
  Dispatcher(const PoolFacts* facts, PoolQueue* queue, InflightTable* inflight, PoolClaims* claims,
             PoolForecasts* forecasts)
      : facts_(facts),
        queue_(queue),
        inflight_(inflight),
        claims_(claims),
        forecasts_(forecasts),
        held_requests_(facts->options.held_requests) {}

  // Gives batches to lanes until the scheduler waits. The next drain or tick tries again where a
  // batch found no room for its outputs. Dispatch() reads the clock only if a request waits.
  void Dispatch(DeferredWork* work);
  void DispatchAt(int64_t now_ns, DeferredWork* work);

  // Requests have left the queue otherwise. Once none is left, the pool waits for nothing.
  void NoteLeft(DeferredWork* work);

  // The batch's replies were given.
  void Recycle(std::unique_ptr<InflightBatch> batch);

  SchedulerSnapshot Snapshot(int64_t now_ns) const;

 private:
  bool IsHeld();
  void CarryOutDecisions(int64_t now_ns, DeferredWork* work);
  void ClearOutputRoom();
  void Drop(const SchedulerDecision& decision, int64_t now_ns, DeferredWork* work);
  void Run(const SchedulerDecision& decision, int64_t now_ns, DeferredWork* work);
  void Submit(std::unique_ptr<InflightBatch> batch, uint32_t lane, DeferredWork* work);
  bool IsPinned(const SchedulerDecision& decision) const;
  uint32_t MostRows(const SchedulerDecision& decision, const WorkerLink& link) const;
  uint64_t LeaseBytes(const FormedBatch& formed, const WorkerLink& link) const;
  std::unique_ptr<InflightBatch> NewBatch();

  const PoolFacts* const facts_;
  PoolQueue* const queue_;
  InflightTable* const inflight_;
  PoolClaims* const claims_;
  PoolForecasts* const forecasts_;
  uint32_t held_requests_;  // no batch before this many wait for the first time; 0: none
  uint64_t next_batch_ = 1;
  double usual_rows_ = 1;     // mean rows of recent batches
  bool room_missed_ = false;  // since ClearOutputRoom()
  std::vector<std::unique_ptr<InflightBatch>> spare_batches_;
  std::vector<Request*> dropped_;  // scratch
};

}  // namespace mpsd

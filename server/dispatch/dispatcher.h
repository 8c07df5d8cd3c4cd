// Dispatcher: carries out the scheduler's decisions, from the queue to the lanes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/base/clock.h"
#include "server/dispatch/deferred_work.h"
#include "server/dispatch/inflight_table.h"
#include "server/dispatch/pool_claims.h"
#include "server/dispatch/pool_queue.h"
#include "server/lanes/output_sizing.h"
#include "server/request/served_model.h"
#include "server/schedule/admission_margin.h"
#include "server/schedule/return_forecast.h"
#include "server/schedule/saturation.h"
#include "server/schedule/scheduler.h"
#include "server/schedule/standing_queue.h"

namespace mpsd {

// Step 7 of a request's life. Owned by a pool. Thread-compatible: guarded by the pool's mutex. It
// decides nothing, and wakes no lane: that is deferred.
//
// A batch's way:
//    take the resources that it needs (PoolClaims) → form it from its line → lease room for its
//    outputs → write the record of a free slot → push the slot's number into the lane's ring →
//    note the lane's bell in DeferredWork
//
// Without room the batch's requests go back into their lines, and the scheduler learns that this
// worker has none. It also learns of missing resources, before a batch is formed.
class Dispatcher {
 public:
  // All outlive the dispatcher. Makes no batch before `held_requests` wait for the first time.
  Dispatcher(ServedModel* model, const Scheduler* scheduler, const Clock* clock, PoolQueue* queue,
             InflightTable* inflight, const ReturnForecast* returns, AdmissionMargin* margin,
             StandingQueue* standing, Saturation* saturation, const OutputEstimate* estimate,
             PoolClaims* claims, uint32_t held_requests)
      : model_(model),
        scheduler_(scheduler),
        clock_(clock),
        queue_(queue),
        inflight_(inflight),
        returns_(returns),
        margin_(margin),
        standing_(standing),
        saturation_(saturation),
        estimate_(estimate),
        claims_(claims),
        held_requests_(held_requests) {}

  // Gives batches to lanes until the scheduler has the pool wait, or a line's batch finds no room
  // for its outputs: the next drain or tick then tries again. Reads the clock only if a request
  // waits; DispatchAt() is for callers that have read it.
  void Dispatch(DeferredWork* work);
  void DispatchAt(int64_t now_ns, DeferredWork* work);

  // Requests have left the queue otherwise: once none is left, the pool waits for nothing.
  void NoteLeft(DeferredWork* work);

  // Takes a batch whose replies were given, for use as the next one.
  void Recycle(std::unique_ptr<InflightBatch> batch);

  // The scheduler's view at that time.
  SchedulerSnapshot Snapshot(int64_t now_ns) const;

 private:
  bool IsHeld();
  void CarryOutDecisions(int64_t now_ns, DeferredWork* work);
  void ClearOutputRoom();
  void Drop(const SchedulerDecision& decision, int64_t now_ns, DeferredWork* work);
  void NoteWait(const FormedBatch& formed, int64_t now_ns);
  bool RunOrPass(const SchedulerDecision& decision, int64_t now_ns, DeferredWork* work);
  bool Run(const SchedulerDecision& decision, int64_t now_ns, DeferredWork* work);
  void Submit(std::unique_ptr<InflightBatch> batch, uint32_t lane, DeferredWork* work);
  bool IsPinned(const SchedulerDecision& decision) const;
  uint32_t MostRows(const SchedulerDecision& decision, const WorkerLink& link) const;
  uint64_t LeaseBytes(const FormedBatch& formed, const WorkerLink& link) const;
  std::unique_ptr<InflightBatch> NewBatch();

  ServedModel* const model_;
  const Scheduler* const scheduler_;
  const Clock* const clock_;
  PoolQueue* const queue_;
  InflightTable* const inflight_;
  const ReturnForecast* const returns_;
  AdmissionMargin* const margin_;
  StandingQueue* const standing_;
  Saturation* const saturation_;
  const OutputEstimate* const estimate_;
  PoolClaims* const claims_;
  uint32_t held_requests_;  // 0: none
  uint64_t next_batch_ = 1;
  double usual_rows_ = 1;     // mean rows of recent batches
  bool room_missed_ = false;  // since ClearOutputRoom()
  std::vector<std::unique_ptr<InflightBatch>> spare_batches_;
  std::vector<Request*> dropped_;  // scratch
};

}  // namespace mpsd

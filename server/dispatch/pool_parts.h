// PoolParts: what a pool is made of, and the one mutex that guards it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/dispatch/answering_list.h"
#include "server/dispatch/completion_intake.h"
#include "server/dispatch/deferred_work.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/inflight_table.h"
#include "server/dispatch/link_gauges.h"
#include "server/dispatch/pool_claims.h"
#include "server/dispatch/pool_keeper.h"
#include "server/dispatch/pool_queue.h"
#include "server/dispatch/quarantine.h"
#include "server/dispatch/slow_workers.h"
#include "server/dispatch/worker_loss.h"
#include "server/lanes/output_sizing.h"
#include "server/request/lane_needs.h"
#include "server/request/pool_watcher.h"
#include "server/request/request.h"
#include "server/request/served_model.h"
#include "server/resources/resource_table.h"
#include "server/schedule/admission_margin.h"
#include "server/schedule/return_forecast.h"
#include "server/schedule/scheduler.h"
#include "server/schedule/standing_queue.h"

namespace mpsd {

struct PoolOptions {
  uint32_t lane_depth = 1;               // batches a lane has at most: 1 on a cpu, 2 on a gpu
  int64_t max_delay_ns = 0;              // for which a batch that is not full waits for company
  std::vector<uint32_t> preferred_rows;  // sizes of batches, rising
  // What may be inside without a lane: beyond it a request is refused as RESOURCE_EXHAUSTED.
  std::vector<uint32_t> queue_requests = {kDefaultQueueRequests};  // of each priority level
  uint64_t queue_bytes = kDefaultQueueBytes;                       // of payload
  int64_t queue_target_ns = 0;                                     // of StandingQueue; 0: none
  uint32_t held_requests = 0;  // no batch is made before so many wait for the first time
  // Workers get memory for one answer of this size when such an answer comes.
  uint64_t max_answer_bytes = kDefaultQueueBytes;
  // What each lane needs of the resources in the table, which outlives the pool; null: nothing.
  LaneNeeds lane_needs;
  ResourceTable* resources = nullptr;
};

// Shared by the faces of one pool (Pool, PoolMemory, PoolWorkers) and by PoolCarrier. Owned by the
// Pool. A face locks `mu`, tells the parts what has happened, and writes the work that is left
// (replies, bells, copies) into a DeferredWork. PoolCarrier does that work after `mu` is released.
//
//   requests ──▶ queue ──── dispatcher ────▶ inflight ─── intake ───▶ replies
//                  ▲      (scheduler: what        │
//                  │       is next, and where)    │
//                  └───────────── loss ◀──────────┘  the worker has died
//
// Beside these: `answering` has the requests (of decoupled models) of which one of several answers
// is on its way to the client; `returns` foresees who comes back; `margin` learns how far
// forecasts can be trusted; `standing` sees that the queue does not drain; `estimate` learns how
// large answers are; `slow_workers` finds out which workers are slow; `claims` has what the
// batches hold of the resources that models share; `quarantine` remembers requests that have
// crashed a worker ("struck").
//
// Invariants, which CheckInvariants() holds the parts to:
//  1. A request that is inside is in exactly one part: queue, inflight or answering.
//  2. A request ends exactly once, through DeferredWork, and is not inside from then on.
//  3. The live rows of the slabs are those of: the requests inside; batches that still run though
//     their requests have ended; a struck request, until its content is hashed.
//  4. What a living worker may still read or write is never freed: see slot_state.h.
//
// `mu` is never held across a payload copy, a system call on a request's path, or a reply.
struct PoolParts {
  // All pointers outlive the parts. Without a scheduler (`chosen` is null) it is a
  // PredictiveScheduler with these options.
  PoolParts(ServedModel* served, const PoolOptions& given, const Clock* pool_clock,
            PoolKeeper* pool_keeper, std::unique_ptr<const Scheduler> chosen);

  // DEADLINE_EXCEEDED, for a new request whose deadline has passed. RESOURCE_EXHAUSTED, for one
  // that would be answered too late, or without a deadline of its own would stand in a queue that
  // does not drain, as far as anybody can tell. It is refused at once: it would take time from
  // those that can be answered.
  absl::Status RefusalInAdvance(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // CHECKs the invariants above and those of the parts. Locks `mu`. Slow: for tests.
  void CheckInvariants() const;

  // Constant after construction.
  ServedModel* const model;
  const PoolOptions options;
  const Clock* const clock;
  PoolKeeper* const keeper;
  const std::unique_ptr<const Scheduler> scheduler;
  PoolWatcher* watcher = nullptr;  // set by Pool::Watch(), if at all

  // Thread-safe: looked at without `mu`.
  InsideCount inside;
  Quarantine quarantine;

  mutable absl::Mutex mu;
  PoolQueue queue ABSL_GUARDED_BY(mu);
  InflightTable inflight ABSL_GUARDED_BY(mu);
  PoolClaims claims ABSL_GUARDED_BY(mu);
  SlowWorkers slow_workers ABSL_GUARDED_BY(mu);
  AnsweringList answering ABSL_GUARDED_BY(mu);
  ReturnForecast returns ABSL_GUARDED_BY(mu);
  AdmissionMargin margin ABSL_GUARDED_BY(mu);
  StandingQueue standing ABSL_GUARDED_BY(mu);
  OutputEstimate estimate ABSL_GUARDED_BY(mu);
  Dispatcher dispatcher ABSL_GUARDED_BY(mu);
  CompletionIntake intake ABSL_GUARDED_BY(mu);
  WorkerLoss loss ABSL_GUARDED_BY(mu);
  LinkGauges link_gauges ABSL_GUARDED_BY(mu);
  bool closed ABSL_GUARDED_BY(mu) = false;                     // admits no request any more
  int64_t worker_expected_ns ABSL_GUARDED_BY(mu) = INT64_MIN;  // while no worker is attached
  std::vector<Request*> taken ABSL_GUARDED_BY(mu);             // scratch
};

}  // namespace mpsd

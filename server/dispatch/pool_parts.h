// PoolParts: a pool's parts, and the one mutex that guards them.
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
#include "server/schedule/replica_forecast.h"
#include "server/schedule/return_forecast.h"
#include "server/schedule/saturation.h"
#include "server/schedule/scheduler.h"
#include "server/schedule/standing_queue.h"

namespace mpsd {

struct PoolOptions {
  uint32_t lane_depth = 1;               // limit of batches on a lane: 1 on a cpu, 2 on a gpu
  int64_t max_delay_ns = 0;              // how long a batch that is not full waits
  std::vector<uint32_t> preferred_rows;  // batch sizes, rising
  // Limits without a lane: beyond them a request is refused as RESOURCE_EXHAUSTED.
  std::vector<uint32_t> queue_requests = {kDefaultQueueRequests};  // by priority level
  uint64_t queue_bytes = kDefaultQueueBytes;                       // bytes of payload
  int64_t queue_target_ns = 0;  // target of StandingQueue; 0: none
  int64_t slo_ns = 0;           // promised time of 99 of 100 requests; 0: any
  uint32_t held_requests = 0;   // no batch before this many wait for the first time
  // When an answer of this size comes, workers get memory for one.
  uint64_t max_answer_bytes = kDefaultQueueBytes;
  // A lane's needs from the table, which outlives the pool; null: none.
  LaneNeeds lane_needs;
  ResourceTable* resources = nullptr;
};

// Shared by the faces of one pool (Pool, PoolMemory, PoolWorkers) and PoolCarrier. Owned by the
// Pool. A face locks `mu`, tells the parts what has happened, and writes the remaining work
// (replies, bells, copies) into a DeferredWork. PoolCarrier does that after `mu` is released.
//
//   requests ──▶ queue ──── dispatcher ────▶ inflight ─── intake ───▶ replies
//                  ▲      (scheduler: what        │
//                  │       is next, and where)    │
//                  └───────────── loss ◀──────────┘  the worker has died
//
// Other members: `answering` has requests (of decoupled models) with one of several answers on its
// way. The forecasts are `returns` (which clients come back), `margin` (trust in forecasts),
// `standing` (whether the queue drains) and `estimate` (size of answers). `saturation` and
// `replicas` are for operators. The member `slow_workers` finds slow workers. The member `claims`
// has the shared resources that batches hold. The member `quarantine` remembers requests that have
// crashed a worker ("struck").
//
// Invariants, which CheckInvariants() checks:
//  1. A request that is inside is in exactly one part: queue, inflight or answering.
//  2. A request ends exactly once, through DeferredWork, and is then not inside.
//  3. The live rows of the slabs belong to requests inside, to batches that still run though their
//     requests have ended, or to a struck request, until its content is hashed.
//  4. Memory that a living worker may still read or write is never freed: see slot_state.h.
//
// Nobody holds `mu` across a payload copy, a system call on a request's path, or a reply.
struct PoolParts {
  // All pointers outlive the parts. If `chosen` is null, the scheduler is a PredictiveScheduler
  // with these options.
  PoolParts(ServedModel* served, const PoolOptions& given, const Clock* pool_clock,
            PoolKeeper* pool_keeper, std::unique_ptr<const Scheduler> chosen);

  // DEADLINE_EXCEEDED for a new request past its deadline. RESOURCE_EXHAUSTED for one that would be
  // answered too late, or that has no deadline of its own and would stand in a queue that does not
  // drain. Such a request is refused at once, because it would take time from others.
  absl::Status RefusalInAdvance(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Brings the gauges of `inside`, `saturation` and `replicas` up to date.
  void NoteLoad(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // CHECKs the invariants above and those of the parts. Locks `mu`. Slow: for tests.
  void CheckInvariants() const;

  // Constant after construction.
  ServedModel* const model;
  const PoolOptions options;
  const Clock* const clock;
  PoolKeeper* const keeper;
  const std::unique_ptr<const Scheduler> scheduler;
  PoolWatcher* watcher = nullptr;  // set by Pool::Watch(), if at all

  // Thread-safe: used without `mu`.
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
  Saturation saturation ABSL_GUARDED_BY(mu);
  ReplicaForecast replicas ABSL_GUARDED_BY(mu);
  OutputEstimate estimate ABSL_GUARDED_BY(mu);
  Dispatcher dispatcher ABSL_GUARDED_BY(mu);
  CompletionIntake intake ABSL_GUARDED_BY(mu);
  WorkerLoss loss ABSL_GUARDED_BY(mu);
  LinkGauges link_gauges ABSL_GUARDED_BY(mu);
  GaugeShare inside_share ABSL_GUARDED_BY(mu);
  GaugeShare saturation_share ABSL_GUARDED_BY(mu);
  GaugeShare load_share ABSL_GUARDED_BY(mu);
  GaugeShare replicas_share ABSL_GUARDED_BY(mu);
  GaugeShare replicas_known_share ABSL_GUARDED_BY(mu);
  bool closed ABSL_GUARDED_BY(mu) = false;                     // admits no more requests
  int64_t worker_expected_ns ABSL_GUARDED_BY(mu) = INT64_MIN;  // while no worker is attached
  std::vector<Request*> taken ABSL_GUARDED_BY(mu);             // scratch
};

}  // namespace mpsd

// PoolParts: a pool's parts, and the one mutex that guards them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/pool/completion_intake.h"
#include "server/pool/deferred_work.h"
#include "server/pool/dispatcher.h"
#include "server/pool/inflight_table.h"
#include "server/pool/link_gauges.h"
#include "server/pool/pool_claims.h"
#include "server/pool/pool_facts.h"
#include "server/pool/pool_forecasts.h"
#include "server/pool/pool_queue.h"
#include "server/pool/quarantine.h"
#include "server/pool/worker_loss.h"
#include "server/request/request.h"
#include "server/telemetry/gauge_share.h"

namespace mpsd {

class PoolWatcher;

// Shared by the faces of one pool (Pool, PoolMemory, PoolWorkers) and PoolCarrier. Owned by the
// Pool. A face locks `mu`, tells the parts what has happened, and writes the remaining work
// (replies, bells, copies) into a DeferredWork. PoolCarrier does that after `mu` is released.
//
//   requests ──▶ queue ──── dispatcher ────▶ inflight ─── intake ───▶ replies
//                  ▲      (scheduler: what        │
//                  │       is next, and where)    │
//                  └───────────── loss ◀──────────┘  the worker has died
//
// The intake also has the requests (of decoupled models) with one of several answers on its way.
// The member `forecasts` is what the pool has learned. The member `claims` has the shared resources
// that batches hold. The member `quarantine` remembers requests that have crashed a worker
// ("struck").
//
// Invariants, which CheckInvariants() checks:
//  1. A request that is inside is in exactly one part: queue, inflight or intake.
//  2. A request ends exactly once, through DeferredWork, and is then not inside.
//  3. The live rows of the slabs belong to requests inside, to batches that still run though their
//     requests have ended, or to a struck request, until its content is hashed.
//  4. Memory that a living worker may still read or write is never freed: see slot_state.h.
//
// Nobody holds `mu` across a payload copy, a system call on a request's path, or a reply.
struct PoolParts {
  explicit PoolParts(PoolFacts given);

  // DEADLINE_EXCEEDED for a new request past its deadline. RESOURCE_EXHAUSTED for one that would be
  // answered too late, or that has no deadline of its own and would stand in a queue that does not
  // drain. Such a request is refused at once, because it would take time from others.
  absl::Status RefusalInAdvance(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Brings the gauges of `inside`, `saturation` and `replicas` up to date.
  void NoteLoad(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // CHECKs the invariants above and those of the parts. Locks `mu`. Slow: for tests.
  void CheckInvariants() const;

  const PoolFacts facts;
  PoolWatcher* watcher = nullptr;  // set by Pool::Watch(), if at all

  // Thread-safe: used without `mu`.
  InsideCount inside;
  Quarantine quarantine;

  mutable absl::Mutex mu;
  PoolQueue queue ABSL_GUARDED_BY(mu);
  InflightTable inflight ABSL_GUARDED_BY(mu);
  PoolClaims claims ABSL_GUARDED_BY(mu);
  PoolForecasts forecasts ABSL_GUARDED_BY(mu);
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

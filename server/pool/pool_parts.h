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

// Owned by a Pool, shared by its faces and PoolCarrier. A face locks `mu`, tells the parts what has
// happened, and writes the remaining work (replies, bells, copies) into a DeferredWork.
//
//   requests ──▶ queue ──── dispatcher ────▶ inflight ─── intake ───▶ replies
//                  ▲      (scheduler: what        │
//                  │       is next, and where)    │
//                  └───────────── loss ◀──────────┘  the worker has died
//
// Invariants:
//  1. A request that is inside is in exactly one part: queue, inflight or intake.
//  2. A request ends exactly once, through DeferredWork, and is then not inside.
//  3. The live rows of the slabs belong to requests inside, to running batches whose requests have
//     ended, or to a struck request, until its content is hashed.
//  4. Memory that a living worker may still read or write is never freed: see slot_state.h.
//
// Nobody holds `mu` across a payload copy, a system call on a request's path, or a reply.
struct PoolParts {
  explicit PoolParts(PoolFacts given);

  // DEADLINE_EXCEEDED for a new request past its deadline. RESOURCE_EXHAUSTED for one that would be
  // answered too late, or that has no deadline and would stand in a queue that does not drain.
  absl::Status RefusalInAdvance(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  void NoteLoad(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Locks `mu`. Slow: for tests.
  void CheckInvariants() const;

  const PoolFacts facts;
  PoolWatcher* watcher = nullptr;  // null if there is none

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
  bool closed ABSL_GUARDED_BY(mu) = false;
  int64_t worker_expected_ns ABSL_GUARDED_BY(mu) = INT64_MIN;  // while no worker is attached
  std::vector<Request*> taken ABSL_GUARDED_BY(mu);             // scratch
};

}  // namespace mpsd

// PoolQueue: a pool's waiting requests, their limits, and the memory for rows.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "server/pool/batch/batcher.h"
#include "server/pool/batch/request_ranks.h"
#include "server/pool/batch/slab_growth.h"
#include "server/pool/queue_ledger.h"
#include "server/request/served_model.h"
#include "server/telemetry/gauge_share.h"

namespace mpsd {

// Steps 4 to 6 of a request's life, also after a batch is lost. Owned by a pool. Thread-compatible:
// guarded by the pool's mutex. It never ends a request, and knows no worker.
//
// A request counts from Admit() until a call takes it out. It waits for memory, or its rows are
// being filled ("reserved"), or it is in a line of the batcher. Or it is held back for a worker
// that can hold its answer.
//
// Invariants, which CheckInvariants() checks:
//  1. The ledger counts the waiting, reserved, queued and held requests together. Requests whose
//     payload is still arriving have reserved rows, but the ledger counts them from Commit() on.
//  2. Waiting requests have no rows; reserved, queued and held ones have.
//  3. The batcher's and the ledger's own invariants.
class PoolQueue {
 public:
  PoolQueue(const ServedModel* model, ModelMetrics* metrics, const QueueLedger::Limits& limits,
            const Clock* clock);

  // Reserves rows for a new request of `bytes` bytes, or lets it wait for memory that may come
  // (`targets->later`). QueueLedger::FullError() if a limit is reached or no memory can be
  // expected. Sets `tick_by_ns` if memory was asked for.
  absl::Status Admit(Request* request, uint64_t bytes, RowTargets* targets, int64_t* tick_by_ns);

  // A reserved request's rows are filled: it joins its line.
  void Commit(Request* request);

  // A request joins its line again, with the rows that it has.
  void Return(Request* request);

  // Holds a request that has run until a worker with a lease of its output_bytes comes. False after
  // HoldNoMore(): none will come.
  bool Hold(Request* request);
  void HoldNoMore() { may_hold_ = false; }

  // Held requests whose answers fit a lease of so many bytes join the suspects.
  void ReturnHeld(uint64_t lease_bytes);

  // Takes out a waiting, queued or held request. The caller ends it.
  void Remove(Request* request);

  // Take out requests, which the caller ends. TakeExpired() takes all with a deadline up to
  // `until_ns`, TakeExpiredOf() those of a line's rank or of SchedulerDecision::kSuspects. The
  // others take all waiting ones, all held ones, and all queued ones with the content of `request`.
  // Requests that yield are delayed instead. TakeExpiredOf() returns their number.
  void TakeExpired(int64_t until_ns, std::vector<Request*>* expired);
  uint32_t TakeExpiredOf(uint32_t line, uint32_t rank, int64_t until_ns,
                         std::vector<Request*>* expired);
  void TakeWaiting(int64_t until_ns, std::vector<Request*>* expired);
  void TakeHeld(int64_t until_ns, std::vector<Request*>* held);
  void TakeEqual(const Request& request, std::vector<Request*>* equal);

  // Reserves rows for waiting requests, the earliest deadline first, while there is room. The
  // caller has the rows filled and commits the requests.
  void PlaceWaiting(std::vector<std::pair<Request*, RowTargets>>* fills, int64_t* tick_by_ns);

  // Carries a scheduler's decision out. `line` may be SchedulerDecision::kSuspects. REQUIRES: what
  // Batcher::Form() requires.
  void Form(uint32_t line, uint32_t max_rows, FormedBatch* batch);

  // The requests of a batch that no lane got return to their lines.
  void PutBack(FormedBatch* formed);

  void EndRows(const RowPlace& place, uint32_t rows) { batcher_.EndRows(place, rows); }

  QueueLedger* ledger() { return &ledger_; }
  const Batcher& batcher() const { return batcher_; }
  LatencyCurve* curve(const Request& request) { return batcher_.curve(request); }
  SlabTable* slabs() { return batcher_.slabs(); }
  SlabGrowth* growth() { return &growth_; }

  // Closes idle slabs, and then retires an idle segment: SlabTable::RetireIdle().
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  // Updates the gauges of the slabs.
  void NoteSlabs();

  // CHECKs the class's invariants, and returns the queue's requests with their rows. Slow: for
  // tests.
  QueueLedger::Sum CheckInvariants() const;

 private:
  void NoteDelayed(uint32_t requests);
  void AskForGrowth(int64_t* tick_by_ns);
  void Count(const Request& request, int sign);
  void NoteQueue();

  const ServedModel* const model_;
  ModelMetrics* const metrics_;
  const Clock* const clock_;
  GaugeShare requests_gauge_;
  GaugeShare bytes_gauge_;
  GaugeShare slabs_gauge_;
  GaugeShare segment_bytes_gauge_;
  Batcher batcher_;
  RequestRanks waiting_;  // admitted, without room for their rows yet
  RequestRanks held_;     // their answers need a worker with more memory
  bool may_hold_ = true;
  SlabGrowth growth_;
  QueueLedger ledger_;
  QueueLedger::Sum reserved_;
  QueueLedger::Sum arriving_;  // reserved too, but not in the ledger
};

}  // namespace mpsd

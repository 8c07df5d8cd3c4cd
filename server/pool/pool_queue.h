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

// Steps 4 to 6 of a request. Thread-compatible: its pool's mutex guards it. It ends no request.
//
// Invariants:
//  1. The ledger counts the requests that wait for memory, are reserved (being filled), queued in a
//     line, or held for a larger worker. Requests whose payload is still arriving are reserved, but
//     the ledger counts them from Commit() on.
//  2. Waiting requests have no rows; the others have.
//  3. The batcher's and the ledger's own invariants.
class PoolQueue {
 public:
  PoolQueue(const ServedModel* model, ModelMetrics* metrics, const QueueLedger::Limits& limits,
            const Clock* clock);

  // Reserves rows, or lets the request wait for memory that may come (`targets->later`).
  // FullError() if a limit is reached or no memory can be expected. Sets `tick_by_ns` if memory was
  // asked for.
  absl::Status Admit(Request* request, uint64_t bytes, RowTargets* targets, int64_t* tick_by_ns);

  // A reserved request's rows are filled.
  void Commit(Request* request);

  // A request with rows joins its line again.
  void Return(Request* request);

  // Holds a request that has run until a worker with a lease of its output_bytes comes. False after
  // HoldNoMore().
  bool Hold(Request* request);
  void HoldNoMore() { may_hold_ = false; }

  // Held requests whose answers fit such a lease join the suspects.
  void ReturnHeld(uint64_t lease_bytes);

  // The request is waiting, queued or held.
  void Remove(Request* request);

  // Take out requests for the caller to end: waiting, held or queued ones with a deadline up to
  // `until_ns`, or queued ones with the content of `request`. TakeExpiredOf() returns how many were
  // delayed instead, because they yield; its `line` may be SchedulerDecision::kSuspects.
  void TakeExpired(int64_t until_ns, std::vector<Request*>* expired);
  uint32_t TakeExpiredOf(uint32_t line, uint32_t rank, int64_t until_ns,
                         std::vector<Request*>* expired);
  void TakeWaiting(int64_t until_ns, std::vector<Request*>* expired);
  void TakeHeld(int64_t until_ns, std::vector<Request*>* held);
  void TakeEqual(const Request& request, std::vector<Request*>* equal);

  // The earliest deadline first, while there is room. The caller has the rows filled and commits
  // the requests.
  void PlaceWaiting(std::vector<std::pair<Request*, RowTargets>>* fills, int64_t* tick_by_ns);

  // REQUIRES: what Batcher::Form() requires.
  void Form(uint32_t line, uint32_t max_rows, FormedBatch* batch);

  // No lane got the batch.
  void PutBack(FormedBatch* formed);

  void EndRows(const RowPlace& place, uint32_t rows) { batcher_.EndRows(place, rows); }

  // See RequestLines.
  void NoteOutputs(const Request& request, uint32_t rows, uint64_t bytes, uint64_t most_bytes) {
    batcher_.NoteOutputs(request, rows, bytes, most_bytes);
  }

  QueueLedger* ledger() { return &ledger_; }
  const Batcher& batcher() const { return batcher_; }
  LatencyCurve* curve(const Request& request) { return batcher_.curve(request); }
  SlabTable* slabs() { return batcher_.slabs(); }
  SlabGrowth* growth() { return &growth_; }

  // Closes idle slabs, then SlabTable::RetireIdle().
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  void NoteSlabs();

  // Returns the queue's requests with their rows. Slow: for tests.
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
  RequestRanks held_;     // their answers need a larger worker
  bool may_hold_ = true;
  SlabGrowth growth_;
  QueueLedger ledger_;
  QueueLedger::Sum reserved_;
  QueueLedger::Sum arriving_;  // reserved too, but not in the ledger
};

}  // namespace mpsd

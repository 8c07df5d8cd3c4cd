// Batcher: puts requests' rows into slabs, and queued requests into batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/pool/batch/formed_batch.h"
#include "server/pool/batch/request_lines.h"
#include "server/pool/batch/row_allocator.h"
#include "server/pool/batch/slab_table.h"
#include "server/pool/schedule/scheduler.h"
#include "server/request/request.h"

namespace mpsd {

// Holds the rows and the lines of one pool's requests, and keeps the two consistent. Owned by the
// PoolQueue. Thread-compatible: the pool's mutex guards it.
//
//   Reserve ──▶ rows being filled ──▶ Enqueue ──▶ a line ──▶ Form ──▶ a batch ──▶ EndRows
//                                                  │
//                                                  └─▶ Remove, Take…: the rows end
//
// Invariants:
//  1. A request joins a line only after its rows are filled. So no batch has unfilled rows.
//  2. Rows are live from Reserve() until EndRows(), or until any call but Form() takes their
//     request out of a line.
//  3. The invariants of RowAllocator and RequestLines.
class Batcher {
 public:
  // `spec` outlives the batcher, and may change until the first Reserve(). `most_tokens`: see
  // TokenBudget; 0: no limit.
  explicit Batcher(const ModelSpec* spec, uint64_t most_tokens = 0)
      : spec_(spec), rows_(spec), lines_(TokenBudget(spec, most_tokens)) {}

  SlabTable* slabs() { return rows_.slabs(); }
  const SlabTable& slab_table() const { return rows_.slabs(); }

  // ---- rows: see RowAllocator ----
  absl::Status Reserve(Request* request, RowTargets* targets);
  void EndRows(const RowPlace& place, uint32_t rows) { rows_.EndRows(place, rows); }
  uint64_t TakeMissedBytes() { return rows_.TakeMissedBytes(); }
  bool CloseIdleSlabs() { return rows_.CloseIdleSlabs(); }

  // ---- lines ----

  // REQUIRES: the request's rows are filled and live.
  void Enqueue(Request* request);

  // The request's batch got no lane.
  void PutBack(Request* request);

  void Remove(Request* request);

  // Takes out every queued request with the shapes and bytes of `request`, and ends its rows.
  // REQUIRES: `request` has live rows and is in no line.
  void TakeEqual(const Request& request, std::vector<Request*>* equal);

  // Take out requests whose deadline is not after `until_ns`, and end their rows. `line` may be
  // SchedulerDecision::kSuspects. Return how many were delayed instead: see RequestRanks.
  uint32_t TakeExpiredOf(uint32_t line, uint32_t rank, int64_t until_ns,
                         std::vector<Request*>* expired);
  uint32_t TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

  // The index names the line, until a request of a new shape key joins one.
  absl::Span<const LineView> lines() const { return lines_.views(); }
  LineView suspects() const { return lines_.suspects(); }
  LatencyCurve* curve(uint32_t line) const { return lines_.curve(line); }
  LatencyCurve* curve(const Request& request) { return lines_.curve(request); }

  // See RequestLines.
  void NoteOutputs(const Request& request, uint32_t rows, uint64_t bytes, uint64_t most_bytes) {
    lines_.NoteOutputs(request, rows, bytes, most_bytes);
  }

  void ForEachQueued(absl::FunctionRef<void(const Request&)> visit) const { lines_.ForEach(visit); }

  // ---- batches ----

  // 1 for a model that does not batch.
  uint32_t max_rows() const { return spec_->batches() ? spec_->max_batch_size : 1; }

  // The most rows in a batch with this request, given the token budget.
  uint32_t MostRowsWith(const Request& request) const {
    return std::max(lines_.SharedRows(request), request.rows);
  }

  // Fills `batch` with requests of `line`, in serving order. Stops before a request that would
  // exceed `row_limit` rows or the token budget, or has no room. A request that exceeds the budget
  // by itself runs alone, and so does any of SchedulerDecision::kSuspects.
  //
  // The caller ends the rows after the batch. REQUIRES: the line is not empty. Unless it is
  // kSuspects, no request that may be first has more than `row_limit` rows.
  void Form(uint32_t line, uint32_t row_limit, FormedBatch* batch);

  // Slow: for tests.
  void CheckInvariants() const;

 private:
  void Append(uint32_t line, int64_t row_ns, FormedBatch* batch);
  void EndRowsFrom(size_t first, const std::vector<Request*>& requests);

  const ModelSpec* const spec_;
  RowAllocator rows_;
  RequestLines lines_;
};

}  // namespace mpsd

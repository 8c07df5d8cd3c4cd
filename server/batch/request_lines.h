// RequestLines: the queued requests of a pool, a line for each shape key.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/batch/request_ranks.h"
#include "server/batch/shape_curves.h"
#include "server/batch/token_budget.h"
#include "server/request/request.h"
#include "server/schedule/scheduler.h"
#include "server/schedule/tenant_shares.h"

namespace mpsd {

// Step 6 of a request's life: the requests that wait for a lane, as a scheduler sees them. Owned by
// a Batcher. Thread-compatible: guarded by the pool's mutex. It knows nothing of rows, and ends
// no request: what it takes out, the caller ends.
//
// A line is named by its index in views(), or SchedulerDecision::kSuspects. Requests of one shape
// key share a line, since they can share a batch. A suspect (a request that has seen a worker die)
// runs alone, so that suspects of all keys share one line. Tenants share a line in equal parts of
// lane time, and all lines together: see TenantShares.
//
// Invariants, which CheckInvariants() holds it to:
//  1. A queued request is in one line: its shape key's, or the suspects'.
//  2. Each line is sorted by rank, and in each rank a tenant's requests by deadline; views() shows
//     each line as it is, but for head_served_ns, which is that of the last change or batch.
//  3. Of more than kMaxOpenSlabs lines none is idle: an empty line is forgotten then, the least
//     recently used first.
class RequestLines {
 public:
  explicit RequestLines(TokenBudget budget = {}) : budget_(budget) {}

  // The request joins its line. REQUIRES: it is kQueued, and in no line.
  void Add(Request* request);

  // REQUIRES: the request is in a line.
  void Remove(Request* request);

  // The request of a line that is served first; null when the line is empty.
  Request* first(uint32_t line) const { return RanksOf(line).first(shares_); }

  // Takes it out, and charges its tenant `row_ns` for each of its rows. REQUIRES: the line is not
  // empty.
  void Pop(uint32_t line, int64_t row_ns);

  // Its tenant is charged nothing for a request that gets no lane after all.
  void Refund(const Request& request) { shares_.Refund(request.tenant, request.charged_ns); }

  // Lane time of a row in a batch of at most `most_rows` rows, as far as it is known; 0 where there
  // is but one tenant.
  int64_t RowNs(uint32_t line, uint32_t most_rows) const;

  // Writes into the views of all lines what their next tenants have had. Called after the Pops of a
  // batch. Does nothing where there is but one tenant.
  void ShowShares();

  // The most rows of a batch of a line, unless one request alone has more.
  uint32_t shared_rows(uint32_t line) const { return by_index_[line]->shared_rows; }
  // The same of the line that the request would join.
  uint32_t SharedRows(const Request& request) const { return budget_.RowsOf(request); }

  // Of batches of a line; null for SchedulerDecision::kSuspects.
  LatencyCurve* curve(uint32_t line) const {
    return line == SchedulerDecision::kSuspects ? nullptr : by_index_[line]->curve;
  }

  // Of batches of requests of that shape, whether they have a line or not, and on whatever lane.
  LatencyCurve* curve(const Request& request);

  // The lines in no particular order, which stays until Add() gets a request of a new key.
  absl::Span<const LineView> views() const { return views_; }
  LineView suspects() const { return ViewOf(suspects_, nullptr); }

  // Takes the requests whose deadline is not after `until_ns` out of a rank of one line, or out of
  // all. Returns how many were delayed instead: see RequestRanks.
  uint32_t TakeExpiredOf(uint32_t line, uint32_t rank, int64_t until_ns,
                         std::vector<Request*>* expired);
  uint32_t TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

  // Takes out the requests for which `equal` is true, of those that have the shape key of `request`
  // and of the suspects.
  void TakeEqual(const Request& request, absl::FunctionRef<bool(const Request&)> equal,
                 std::vector<Request*>* taken);

  // Calls visit(const Request&) for each request.
  void ForEach(absl::FunctionRef<void(const Request&)> visit) const;

  // CHECKs the class's invariants. Slow: for tests.
  void CheckInvariants() const;

 private:
  struct Line {
    RequestRanks waiting;
    LatencyCurve* curve = nullptr;
    uint32_t shared_rows = TokenBudget::kAnyRows;
    uint32_t index = 0;  // in views_
    uint64_t pin = 0;    // of its requests, whose keys it is part of
    uint64_t last_used = 0;
  };

  LineView ViewOf(const RequestRanks& ranks, const Line* line) const;
  int64_t ServedNs(const RequestRanks& ranks) const;
  const RequestRanks& RanksOf(uint32_t line) const;
  RequestRanks* RanksOf(uint32_t line);
  Line* LineOf(const Request& request);
  void Show(uint32_t line);
  void ForgetIdleLines(const Line* keep);
  void RemoveLine(uint32_t index);

  const TokenBudget budget_;
  absl::flat_hash_map<ShapeKey, std::unique_ptr<Line>> lines_;
  std::vector<LineView> views_;  // one for each of lines_
  std::vector<Line*> by_index_;  // whose view it is
  RequestRanks suspects_;
  ShapeCurves curves_;
  TenantShares shares_;
  uint64_t use_count_ = 0;
};

}  // namespace mpsd

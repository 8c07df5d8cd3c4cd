// RequestLines: the queued requests of a pool, one line per shape key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/pool/batch/output_rows.h"
#include "server/pool/batch/request_ranks.h"
#include "server/pool/batch/token_budget.h"
#include "server/pool/schedule/latency_curve.h"
#include "server/pool/schedule/scheduler.h"
#include "server/pool/schedule/tenant_shares.h"
#include "server/request/request.h"

namespace mpsd {

// Thread-compatible: the pool's mutex guards it. A curve's address is stable. Shapes beyond the
// first kMostShapes share one curve.
class ShapeCurves {
 public:
  static constexpr size_t kMostShapes = 64;

  LatencyCurve* Of(const ShapeKey& key) {
    const auto known = curves_.find(key);
    if (known != curves_.end()) return known->second.get();
    if (curves_.size() >= kMostShapes) return &of_others_;
    return curves_.emplace(key, std::make_unique<LatencyCurve>()).first->second.get();
  }

 private:
  absl::flat_hash_map<ShapeKey, std::unique_ptr<LatencyCurve>> curves_;
  LatencyCurve of_others_;
};

// Step 6 of a request. Owned by a Batcher. Thread-compatible: the pool's mutex guards it. It knows
// nothing of rows and ends no request.
//
// A line is named by its index in views(), or SchedulerDecision::kSuspects: a suspect runs alone,
// so all suspects share one line. Tenants share the lane time of all lines.
//
// Invariants:
//  1. A queued request is in one line: its shape key's, or the suspects'.
//  2. Each line is sorted by rank, and within a rank each tenant's requests by deadline. The views
//     are up to date, except head_served_ns: that field is refreshed only when the line changes or
//     a batch starts.
//  3. While there are more than kMaxOpenSlabs lines, none is idle: empty lines are dropped, the
//     least recently used first.
class RequestLines {
 public:
  explicit RequestLines(TokenBudget budget = {}) : budget_(budget) {}

  // REQUIRES: the request is kQueued, and in no line.
  void Add(Request* request);

  // REQUIRES: the request is in a line.
  void Remove(Request* request);

  // Null if the line is empty.
  Request* first(uint32_t line) const { return RanksOf(line).first(shares_); }

  // Charges the tenant of first(line) `row_ns` per row. REQUIRES: the line is not empty.
  void Pop(uint32_t line, int64_t row_ns);

  // The request got no lane after all.
  void Refund(const Request& request) { shares_.Refund(request.tenant, request.charged_ns); }

  // Estimated lane time of a row; 0 if there is only one tenant.
  int64_t RowNs(uint32_t line, uint32_t most_rows) const;

  // Updates head_served_ns in all views, after the Pops of a batch.
  void ShowShares();

  // The most rows in a batch of the line, unless a single request has more.
  uint32_t shared_rows(uint32_t line) const { return by_index_[line]->most_rows(); }
  uint32_t SharedRows(const Request& request) const { return budget_.RowsOf(request); }

  // See OutputRows, for the line of the request.
  void NoteOutputs(const Request& request, uint32_t rows, uint64_t bytes, uint64_t most_bytes);

  // Null for SchedulerDecision::kSuspects.
  LatencyCurve* curve(uint32_t line) const {
    return line == SchedulerDecision::kSuspects ? nullptr : by_index_[line]->curve;
  }

  // The latency of batches of that shape on any lane. The shape needs no line.
  LatencyCurve* curve(const Request& request);

  // The order changes only when Add() gets a request of a new key.
  absl::Span<const LineView> views() const { return views_; }
  LineView suspects() const { return ViewOf(suspects_, nullptr); }

  // Take the requests whose deadline is not after `until_ns`. Return how many were delayed instead:
  // see RequestRanks.
  uint32_t TakeExpiredOf(uint32_t line, uint32_t rank, int64_t until_ns,
                         std::vector<Request*>* expired);
  uint32_t TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

  // Looks at requests with the shape key of `request`, and at the suspects.
  void TakeEqual(const Request& request, absl::FunctionRef<bool(const Request&)> equal,
                 std::vector<Request*>* taken);

  void ForEach(absl::FunctionRef<void(const Request&)> visit) const;

  // Slow: for tests.
  void CheckInvariants() const;

 private:
  struct Line {
    RequestRanks waiting;
    LatencyCurve* curve = nullptr;
    uint32_t shared_rows = TokenBudget::kAnyRows;
    OutputRows output_rows;
    uint32_t index = 0;
    uint64_t pin = 0;
    uint64_t last_used = 0;

    uint32_t most_rows() const { return std::min(shared_rows, output_rows.most()); }
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
  std::vector<LineView> views_;
  std::vector<Line*> by_index_;
  RequestRanks suspects_;
  ShapeCurves curves_;
  TenantShares shares_;
  uint64_t use_count_ = 0;
};

}  // namespace mpsd

// RequestLines: the queued requests of a pool, a line for each shape key.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/batch/request_list.h"
#include "server/batch/shape_curves.h"
#include "server/request/request.h"
#include "server/schedule/scheduler.h"

namespace mpsd {

// Step 6 of a request's life: the requests that wait for a lane, as a scheduler sees them. Owned by
// a Batcher. Thread-compatible: guarded by the pool's mutex. It knows nothing of rows, and ends
// no request: what it takes out, the caller ends.
//
// A line is named by its index in views(), or SchedulerDecision::kSuspects. Requests of one shape
// key share a line, since they can share a batch. A suspect (a request that has seen a worker die)
// runs alone, so that suspects of all keys share one line.
//
// Invariants, which CheckInvariants() holds it to:
//  1. A queued request is in one line: its shape key's, or the suspects'.
//  2. Each line is sorted by deadline, and views() shows each as it is.
//  3. Of more than kMaxOpenSlabs lines none is idle: an empty line is forgotten then, the least
//     recently used first.
class RequestLines {
 public:
  // The request joins its line. REQUIRES: it is kQueued, and in no line.
  void Add(Request* request);

  // REQUIRES: the request is in a line.
  void Remove(Request* request);

  // The first request of a line; null when the line is empty.
  Request* head(uint32_t line) const { return ListOf(line).head(); }

  // Takes out the head of a line. REQUIRES: the line is not empty.
  void Pop(uint32_t line);

  // Of batches of a line; null for SchedulerDecision::kSuspects.
  LatencyCurve* curve(uint32_t line) const {
    return line == SchedulerDecision::kSuspects ? nullptr : by_index_[line]->curve;
  }

  // Of batches of requests of that shape, whether they have a line or not.
  LatencyCurve* curve(const ShapeKey& key) { return curves_.Of(key); }

  // The lines in no particular order, which stays until Add() gets a request of a new key.
  absl::Span<const LineView> views() const { return views_; }
  LineView suspects() const { return ViewOf(suspects_, nullptr); }

  // Takes the requests whose deadline is not after `until_ns` out of one line, or out of all.
  void TakeExpiredOf(uint32_t line, int64_t until_ns, std::vector<Request*>* expired);
  void TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

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
    RequestList waiting;
    LatencyCurve* curve = nullptr;
    uint32_t index = 0;  // in views_
    uint64_t last_used = 0;
  };

  static LineView ViewOf(const RequestList& list, const LatencyCurve* curve);
  const RequestList& ListOf(uint32_t line) const;
  RequestList* ListOf(uint32_t line);
  Line* LineOf(const Request& request);
  void Show(uint32_t line);
  void ForgetIdleLines(const Line* keep);
  void RemoveLine(uint32_t index);

  absl::flat_hash_map<ShapeKey, std::unique_ptr<Line>> lines_;
  std::vector<LineView> views_;  // one for each of lines_
  std::vector<Line*> by_index_;  // whose view it is
  RequestList suspects_;
  ShapeCurves curves_;
  uint64_t use_count_ = 0;
};

}  // namespace mpsd

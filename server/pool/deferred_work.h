// DeferredWork: work that a pool finds out under its mutex and does after it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "server/pool/lanes/inflight_batch.h"
#include "server/pool/lanes/worker_link.h"
#include "server/request/request.h"

namespace mpsd {

// Add() and Subtract() are called under the pool's mutex, so they are plain writes; get() is
// thread-safe.
class InsideCount {
 public:
  void Add() { count_.store(get() + 1, std::memory_order_relaxed); }
  void Subtract() { count_.store(get() - 1, std::memory_order_relaxed); }
  int64_t get() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> count_{0};
};

// Lives on the stack of one call of the pool, which fills it under the mutex. PoolCarrier::Carry()
// does it without the mutex. Thread-compatible.
class DeferredWork {
 public:
  static constexpr int64_t kNoTick = std::numeric_limits<int64_t>::max();

  explicit DeferredWork(InsideCount* inside) : inside_(inside) {}

  // The one way out of a pool: Carry() then fails the reply. REQUIRES: the request is in no list,
  // and its rows have ended, or end with a batch or a strike.
  void End(Request* request, absl::Status status) {
    Leave(request);
    ended.emplace_back(request, std::move(status));
  }

  // The request gets its answer with a batch of `completed`.
  void EndAnswered(Request* request) { Leave(request); }

  void EndAll(std::vector<Request*>* requests, const absl::Status& status) {
    for (Request* request : *requests) End(request, status);
    requests->clear();
  }

  void TickBy(int64_t when_ns) { tick_by_ns = std::min(tick_by_ns, when_ns); }

  bool after_timeout = false;    // the caller's sleep timed out
  bool others_may_run = false;   // other pools wait for resources that became free
  int64_t tick_by_ns = kNoTick;  // when a drain or tick is due
  absl::InlinedVector<std::pair<std::shared_ptr<WorkerLink>, LanePort*>, 4> wakes;
  absl::InlinedVector<std::unique_ptr<InflightBatch>, 16> completed;
  absl::InlinedVector<std::pair<Request*, absl::Status>, 4> ended;
  std::vector<std::pair<Request*, RowTargets>> fills;  // these waiting requests got their rows
  Request* struck = nullptr;  // its content is to be refused; its rows are still live

 private:
  void Leave(Request* request) {
    request->Go(RequestState::kEnded);
    inside_->Subtract();
  }

  InsideCount* const inside_;
};

}  // namespace mpsd

// PoolCarrier: does what a pool found out under its mutex, after the mutex.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "server/pool/deferred_work.h"
#include "server/pool/pool_parts.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"

namespace mpsd {

// Owned by a Pool, used by each of its faces. Thread-safe: each thread carries its own
// DeferredWork. Carry() keeps this order:
//   1. lanes are woken first (a system call), so that the device works meanwhile;
//   2. answers are noted and go out (payloads are copied), then a struck request's content is
//      remembered;
//   3. only then requests are failed: a client that is told of a crash and asks again is refused;
//   4. rows of requests that waited for memory are filled last. CommitAll() carries what it finds.
class PoolCarrier {
 public:
  PoolCarrier(PoolParts* parts, CompletionSink* replies) : parts_(parts), replies_(replies) {}

  // Uses up `work`. May block as long as a reply's copy takes.
  void Carry(DeferredWork* work) ABSL_LOCKS_EXCLUDED(parts_->mu);

  // The rows are filled. A request ends if it was cancelled meanwhile, or its content has crashed a
  // worker.
  void CommitAll(absl::Span<Request* const> requests) ABSL_LOCKS_EXCLUDED(parts_->mu);

 private:
  void Join(Request* request, bool is_quarantined, int64_t now_ns, DeferredWork* work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_->mu);
  void RememberAnswered(const CompletedBatch& batch);
  void RememberStruck(DeferredWork* work) ABSL_LOCKS_EXCLUDED(parts_->mu);
  void Recycle(DeferredWork* work) ABSL_LOCKS_EXCLUDED(parts_->mu);

  PoolParts* const parts_;
  CompletionSink* const replies_;
};

}  // namespace mpsd

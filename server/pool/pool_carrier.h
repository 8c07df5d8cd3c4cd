// PoolCarrier: does what a pool found out under its mutex, after the mutex.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "server/pool/deferred_work.h"
#include "server/pool/pool_parts.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"

namespace mpsd {

// Owned by a Pool, used by each of its faces. Thread-safe: any thread carries its own DeferredWork.
//
// Slow work happens only here. Lanes are woken (a system call). Replies are given (payloads are
// copied out of the worker's segment). Rows of requests that waited for memory are filled (payloads
// are copied in). Then a batch's memory is returned, or a filled request joins its line, once more
// under the mutex.
//
// Carry() keeps this order:
//   1. lanes are woken first, so that the device works while the rest is done;
//   2. answers are noted and go out, then a struck request's content is remembered;
//   3. only then requests are failed: a client that is told of a crash and asks again is refused;
//   4. rows are filled last. CommitAll() may find more to do, and carries it itself.
class PoolCarrier {
 public:
  // Both outlive the carrier.
  PoolCarrier(PoolParts* parts, CompletionSink* replies) : parts_(parts), replies_(replies) {}

  // Does and uses up all of `work`. May block as long as a reply's copy takes.
  void Carry(DeferredWork* work) ABSL_LOCKS_EXCLUDED(parts_->mu);

  // The rows of reserved requests are filled. Each joins its line. Or it ends, if the client has
  // cancelled it meanwhile or its content has crashed a worker.
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

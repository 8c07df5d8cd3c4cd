// InferCalls: the ModelInfer calls of one queue: armed, open and spare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "server/accept/infer_call.h"

namespace mpsd {

// Owns the InferCalls of a queue. Each call that arrives arms another one in its place. So no
// open call keeps the next one from arriving, be its model slow, or its client one that does not
// take the answer. A call that is over is used again.
//
//   spare ── Arm() ─▶ armed ── Arrived() ─▶ open ── Over() ─▶ spare: kArmedInferCalls at most
//                       └── Gone(), when the server stops ─▶ deleted
//
// Armed and open calls count in InferCallContext::live_calls: the server stops its queues once all
// of them are back. How many may be open, OpenCalls says: a call beyond that ends at once, but
// arrives.
//
// Owned by the QueueThread. Lives on the queue's thread, except Arm() before that thread runs and
// the destructor after its end.
class InferCalls {
 public:
  // The context outlives the calls.
  explicit InferCalls(const InferCallContext* context) : context_(context) {}

  // REQUIRES: no call is armed or open.
  ~InferCalls();

  // Arms one call more.
  void Arm();

  // The call has arrived, and arms another one once it has begun. Its client is to take the answer
  // before `cancel_at_ns`.
  void Arrived(InferCall* call, int64_t cancel_at_ns);

  // The call is over: no tag of it is out. It may be deleted when this returns.
  void Over(InferCall* call);

  // The server shuts down: the armed call will never arrive, and is deleted.
  void Gone(InferCall* call);

  // Cancels the calls that are open although it is past their time. Called again and again; looks
  // at the calls once in kLookEveryNs at most.
  void CancelUntaken(int64_t now_ns);

  bool any_open() const { return !open_.empty(); }
  size_t spare_count() const { return spare_.size(); }

  static constexpr int64_t kLookEveryNs = OpenStreams::kLookEveryNs;

 private:
  const InferCallContext* const context_;

  // Used on the queue's thread.
  std::vector<std::unique_ptr<InferCall>> spare_;
  absl::flat_hash_map<InferCall*, int64_t> open_;  // and when each is cancelled
  int64_t looked_ns_ = 0;
};

}  // namespace mpsd

// InferCalls: one queue's ModelInfer calls: armed, open and spare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "server/accept/infer_call.h"

namespace mpsd {

// Owns a queue's InferCalls. Each call that arrives arms another one in its place. So an open call
// keeps no other from arriving, even if its model is slow or its client does not take the answer. A
// call that is over is used again.
//
//   spare ── Arm() ─▶ armed ── Arrived() ─▶ open ── Over() ─▶ spare: kArmedInferCalls at most
//                       └── Gone(), when the server stops ─▶ deleted
//
// InferCallContext::live_calls counts armed and open calls: the server stops its queues once all
// are back. OpenCalls bounds the open ones: a call beyond that arrives, but ends at once.
//
// Owned by the QueueThread. Lives on the queue's thread, except Arm() before that thread runs and
// the destructor after its end.
class InferCalls {
 public:
  explicit InferCalls(const InferCallContext* context) : context_(context) {}

  // REQUIRES: no call is armed or open.
  ~InferCalls();

  void Arm();

  // The call has arrived, and arms another one once it has begun. Its client must take the answer
  // before `cancel_at_ns`.
  void Arrived(InferCall* call, int64_t cancel_at_ns);

  // The call is over: none of its tags is out. It may be deleted when this returns.
  void Over(InferCall* call);

  // The server shuts down: deletes the armed call, which will never arrive.
  void Gone(InferCall* call);

  // Cancels open calls past their time. Called again and again; looks at most once in kLookEveryNs.
  void CancelUntaken(int64_t now_ns);

  bool any_open() const { return !open_.empty(); }
  size_t spare_count() const { return spare_.size(); }

  static constexpr int64_t kLookEveryNs = OpenStreams::kLookEveryNs;

 private:
  const InferCallContext* const context_;

  // Used on the queue's thread.
  std::vector<std::unique_ptr<InferCall>> spare_;
  absl::flat_hash_map<InferCall*, int64_t> open_;  // with the time at which each is cancelled
  int64_t looked_ns_ = 0;
};

}  // namespace mpsd

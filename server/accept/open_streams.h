// OpenStreams: the calls that last until a side ends them, so that the server can.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// A call that lasts: a StreamCall, or a GenericCall of a watched method or a conversation. A call
// of one request ends with the request; these would keep a server that stops waiting for their
// clients. Lives on its queue's thread, except EndSoon() and CutIfUntaken(), which come from any
// thread, with the mutex of OpenStreams held: they return at once, and must not call back into it.
class OpenStream {
 public:
  virtual ~OpenStream() = default;

  // Ends the call, whether the client is done or not, once the requests inside are answered.
  virtual void EndSoon() = 0;

  // Ends the call if its client should have taken an answer by now and has not. A watch does
  // nothing: it lasts anyway, and has one small answer to be written at most.
  virtual void CutIfUntaken(int64_t /*now_ns*/) {}
};

// A stop and the arrival of a stream may meet. No stream is missed, since each side first says what
// it does and then looks at the other:
//
//   the stream's thread            the thread that stops the server
//   Add()                          stopping = true
//   stopping? then it ends itself  EndAll(): EndSoon() of each stream that was added
//
// So EndSoon() may come to a stream that is ending already, and comes at most once for each
// EndAll(); a stream that both sides saw ends once all the same.
//
// The queue threads call CutUntaken() again and again, each for the streams of all; while there is
// a stream, none of them sleeps for longer than kLookEveryNs.
//
// Owned by the GrpcServer, one for all queues. Holds each stream from its arrival to its last tag;
// its size is bounded by the connections and the calls of each. Thread-safe.
class OpenStreams {
 public:
  // REQUIRES: the stream is removed before it is deleted.
  void Add(OpenStream* stream) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    streams_.insert(stream);
  }

  // When this returns, no EndSoon() or CutIfUntaken() of this stream is running or will come.
  void Remove(OpenStream* stream) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    streams_.erase(stream);
  }

  // Calls EndSoon() of each stream. A stream that is added afterwards has to look whether the
  // server stops by itself.
  void EndAll() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    for (OpenStream* stream : streams_) stream->EndSoon();
  }

  // Calls CutIfUntaken() of each stream, once in kLookEveryNs at most.
  void CutUntaken(int64_t now_ns) ABSL_LOCKS_EXCLUDED(mu_) {
    if (now_ns - looked_ns_.load(std::memory_order_relaxed) < kLookEveryNs) return;
    absl::MutexLock lock(&mu_);
    looked_ns_.store(now_ns, std::memory_order_relaxed);
    for (OpenStream* stream : streams_) stream->CutIfUntaken(now_ns);
  }

  bool any() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return !streams_.empty();
  }

  static constexpr int64_t kLookEveryNs = 1'000'000'000;

 private:
  std::atomic<int64_t> looked_ns_{0};

  mutable absl::Mutex mu_;
  absl::flat_hash_set<OpenStream*> streams_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

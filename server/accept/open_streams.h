// OpenStreams: the calls that last until a side ends them, so that the server can end them.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// A lasting call: a StreamCall, or a GenericCall of a watched method or a conversation. Other calls
// end with their request; these would make a stopping server wait for their clients. Lives on its
// queue's thread, except EndSoon() and CutIfUntaken(). Any thread may call these with the mutex of
// OpenStreams held; they return at once, and must not call back into it.
class OpenStream {
 public:
  virtual ~OpenStream() = default;

  // Ends the call, whether the client is done or not, once the requests inside are answered.
  virtual void EndSoon() = 0;

  // Ends the call if its client should have taken an answer by now. A watch does nothing: it lasts
  // anyway, and has at most one small answer to write.
  virtual void CutIfUntaken(int64_t /*now_ns*/) {}
};

// A stop and a stream's arrival may coincide. No stream is missed, since each side first announces
// itself and then looks at the other:
//
//   the stream's thread            the thread that stops the server
//   Add()                          stopping = true
//   stopping? then it ends itself  EndAll(): EndSoon() of each stream that was added
//
// So EndSoon() may come to a stream that is ending already, at most once for each EndAll(). A
// stream that both sides saw still ends once.
//
// The queue threads call CutUntaken() again and again, each for all streams. While there is a
// stream, none of them sleeps longer than kLookEveryNs.
//
// Owned by the GrpcServer, one for all queues. Holds each stream from its arrival to its last tag.
// The connections and their limits of calls bound its size. Thread-safe.
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

  // Calls EndSoon() of each stream. A stream that is added later must check itself whether the
  // server stops.
  void EndAll() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    for (OpenStream* stream : streams_) stream->EndSoon();
  }

  // Calls CutIfUntaken() of each stream, at most once in kLookEveryNs.
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

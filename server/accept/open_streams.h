// OpenStreams: the calls that last until a side ends them, so that a stop of the server can.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// A call that lasts: a StreamCall, or a GenericCall of a watched method or a conversation. A call
// of one request ends with the request; these would keep a server that stops waiting for their
// clients. Lives on its queue's thread, except EndSoon(), which comes from any thread.
class OpenStream {
 public:
  virtual ~OpenStream() = default;

  // Ends the call, whether the client is done or not, once the requests inside are answered.
  // Returns at once. Called with the mutex of OpenStreams held: must not call back into it.
  virtual void EndSoon() = 0;
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
// Owned by the GrpcServer, one for all queues. Holds each stream from its arrival to its last tag;
// its size is bounded by the connections and the calls of each. Thread-safe.
class OpenStreams {
 public:
  // REQUIRES: the stream is removed before it is deleted.
  void Add(OpenStream* stream) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    streams_.insert(stream);
  }

  // When this returns, no EndSoon() of this stream is running or will come.
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

 private:
  absl::Mutex mu_;
  absl::flat_hash_set<OpenStream*> streams_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

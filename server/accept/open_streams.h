// OpenStreams: the calls that last until a side ends them, so that a stop of the server can.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// A call that lasts. Lives on its queue's thread, except EndSoon(), which comes from any thread.
class OpenStream {
 public:
  virtual ~OpenStream() = default;

  // Ends the call, whether the client is done or not, once the requests inside are answered.
  virtual void EndSoon() = 0;
};

// Owned by the GrpcServer. Holds each stream from its arrival to its last tag. Thread-safe.
class OpenStreams {
 public:
  void Add(OpenStream* stream) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    streams_.insert(stream);
  }

  // When this returns, no EndSoon() of this stream is running or will come.
  void Remove(OpenStream* stream) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    streams_.erase(stream);
  }

  // Calls EndSoon() of each stream.
  void EndAll() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    for (OpenStream* stream : streams_) stream->EndSoon();
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_set<OpenStream*> streams_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

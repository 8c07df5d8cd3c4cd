// OpenStreams: the calls that last until somebody ends them, so that a stop can.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// A call that lasts. Lives on its queue's thread, but for EndSoon(), which comes from any.
class OpenStream {
 public:
  virtual ~OpenStream() = default;

  // What is inside is still answered; then the call ends, whether its client is done or not.
  virtual void EndSoon() = 0;
};

// Thread-safe. Owned by the server. A stream is in here from its arrival to its last tag.
class OpenStreams {
 public:
  void Add(OpenStream* stream) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    streams_.insert(stream);
  }

  // No EndSoon() of this stream is running or will come once this has returned.
  void Remove(OpenStream* stream) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    streams_.erase(stream);
  }

  void EndAll() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    for (OpenStream* stream : streams_) stream->EndSoon();
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_set<OpenStream*> streams_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

// StreamSet: the device streams of a worker, each the property of one lane at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "worker/model/torch/torch_options.h"

namespace mpsd {

// A device's streams, as its runtime hands them out. Thread-safe. The streams' numbers mean nothing
// but which is which.
class StreamDevice {
 public:
  virtual ~StreamDevice() = default;

  // The stream of the process's main thread.
  virtual int64_t MainStream() = 0;

  // The next stream of the runtime's pool, which goes round: it may be one that is in use, and is
  // the main stream where the runtime has no other.
  virtual int64_t NextStream() = 0;

  // Makes the stream the calling thread's own.
  virtual void MakeCurrent(int64_t stream) = 0;

  // Waits for what was begun on this stream, and for nothing else.
  virtual absl::Status Synchronize(int64_t stream) = 0;
};

class StreamSet;

// The right to a stream. Lives on the thread that acquired it. The stream is waited for before it
// goes back; one that cannot be waited for never goes back.
class StreamLease {
 public:
  StreamLease() = default;
  StreamLease(StreamLease&& other) noexcept;
  StreamLease& operator=(StreamLease&& other) noexcept;
  ~StreamLease() { Release(); }

  bool held() const { return set_ != nullptr; }
  int64_t stream() const { return stream_; }
  void Release();

 private:
  friend class StreamSet;
  StreamLease(StreamSet* set, int64_t stream) : set_(set), stream_(stream) {}

  StreamSet* set_ = nullptr;
  int64_t stream_ = 0;
};

// Thread-safe. Outlives its leases. A stream is leased at most once at a time; the main stream
// is never given to a lane that runs elsewhere than on the main thread.
class StreamSet {
 public:
  // At most `stream_count` leases beside the main stream's.
  StreamSet(StreamDevice* device, uint32_t stream_count, StreamExhaustion exhaustion);

  // Touches the device on the main thread, before any other thread does. No lease before it.
  void InitializeMainThread();

  // A stream that is now the calling thread's current one. When all are leased: RESOURCE_EXHAUSTED
  // at once, after a time, or never, as the set was told. FAILED_PRECONDITION before
  // InitializeMainThread().
  absl::StatusOr<StreamLease> Acquire();

  // The main stream, for a lane that runs on the main thread.
  absl::StatusOr<StreamLease> AcquireMain();

  uint32_t leased() const;

 private:
  friend class StreamLease;
  void Return(int64_t stream);
  bool WaitForRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsLeased(int64_t stream) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<StreamLease> Take(int64_t stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Exhausted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  StreamDevice* const device_;
  const uint32_t stream_count_;
  const StreamExhaustion exhaustion_;

  mutable absl::Mutex mu_;
  bool initialized_ ABSL_GUARDED_BY(mu_) = false;
  int64_t main_stream_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<int64_t> leased_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd

// StreamSet: the device streams of a worker, each leased to at most one lane at a time.
//
// Lanes on one stream would wait for each other's batches. libtorch hands streams out in a ring and
// does not say whether one is in use.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "worker/model/runtime/torch_options.h"

namespace mpsd {

// A device's streams; tests use a fake. The numbers only tell streams apart. Thread-safe.
class StreamDevice {
 public:
  virtual ~StreamDevice() = default;

  virtual int64_t MainStream() = 0;

  // The next stream of the runtime's ring, which may be in use. A runtime without further streams
  // returns the main stream.
  virtual int64_t NextStream() = 0;

  virtual void MakeCurrent(int64_t stream) = 0;

  // Blocks until the work queued on this stream, the calling thread's current one, is done.
  virtual absl::Status Synchronize(int64_t stream) = 0;
};

class StreamSet;

// The right to one stream. Owned by a lane, and lives on its thread. The lease waits for the
// stream's work before it gives the stream back. If the wait fails, the stream is never leased
// again.
class StreamLease {
 public:
  StreamLease() = default;
  StreamLease(StreamLease&& other) noexcept;
  StreamLease& operator=(StreamLease&& other) noexcept;
  ~StreamLease() { Release(); }

  bool held() const { return set_ != nullptr; }
  int64_t stream() const { return stream_; }

  // Does nothing if no stream is held.
  void Release();

 private:
  friend class StreamSet;
  StreamLease(StreamSet* set, int64_t stream) : set_(set), stream_(stream) {}

  StreamSet* set_ = nullptr;
  int64_t stream_ = 0;
};

// Owned by the model's TorchRuntime; outlives its leases. Lanes use the set only when they bind and
// release. Thread-safe.
//
// Invariants:
//   1. A stream is leased at most once at a time.
//   2. Only AcquireMain() leases the main stream.
//   3. Besides the main stream's, at most `stream_count` leases are held.
class StreamSet {
 public:
  // `device` outlives the set. `exhaustion`: what Acquire() does when all streams are leased.
  StreamSet(StreamDevice* device, uint32_t stream_count, StreamExhaustion exhaustion);

  // Called once, before every lease, on the main thread, which must touch the device first.
  void InitializeMainThread();

  // Makes a free stream the calling thread's current one. RESOURCE_EXHAUSTED if all are leased,
  // after the wait that `exhaustion` allows. FAILED_PRECONDITION before InitializeMainThread().
  absl::StatusOr<StreamLease> Acquire();

  // For the lane on the main thread. RESOURCE_EXHAUSTED if the stream is leased already.
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

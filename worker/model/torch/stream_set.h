// StreamSet: the device streams of a worker, each leased to at most one lane at a time.
//
// Work on one stream of a device runs in order; work on two streams may run at the same time. A
// lane that shares its stream with another lane waits for both batches. This set keeps the account
// of streams, because libtorch hands them out in a ring and does not say whether one is in use:
//
//   InitializeMainThread()    Called once, on the main thread: the first to touch the device.
//   Acquire(), AcquireMain()  A lane binds, on its own thread.
//   ~StreamLease              A lane is released, on the same thread, after its work is done.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "worker/model/runtime/torch_options.h"

namespace mpsd {

// A device's streams, as its runtime hands them out; tests use a fake. The numbers serve only to
// tell streams apart. Thread-safe.
class StreamDevice {
 public:
  virtual ~StreamDevice() = default;

  // The stream of the process's main thread.
  virtual int64_t MainStream() = 0;

  // The next stream of the runtime's pool. The pool is a ring, so the stream may be in use. A
  // runtime without further streams returns the main stream.
  virtual int64_t NextStream() = 0;

  virtual void MakeCurrent(int64_t stream) = 0;

  // Blocks until the work that was queued on this stream is done; waits for no other stream.
  // `stream` is the calling thread's current one.
  virtual absl::Status Synchronize(int64_t stream) = 0;
};

class StreamSet;

// The right to one stream. Lives on the thread that acquired it; the lane of that thread owns it.
// The lease waits for the stream's work before it gives the stream back. A stream whose wait fails
// is never leased again.
class StreamLease {
 public:
  StreamLease() = default;
  StreamLease(StreamLease&& other) noexcept;
  StreamLease& operator=(StreamLease&& other) noexcept;
  ~StreamLease() { Release(); }

  bool held() const { return set_ != nullptr; }
  int64_t stream() const { return stream_; }

  // Blocks until the stream's work is done, then gives the stream back. Does nothing if none is
  // held.
  void Release();

 private:
  friend class StreamSet;
  StreamLease(StreamSet* set, int64_t stream) : set_(set), stream_(stream) {}

  StreamSet* set_ = nullptr;
  int64_t stream_ = 0;
};

// Gives each lane its own stream, so that a lane waits only for its own work. Used when lanes bind
// and release, never during a batch. Owned by the model's TorchRuntime; outlives its leases.
// Thread-safe.
//
// Invariants:
//   1. A stream is leased at most once at a time.
//   2. Only AcquireMain() leases the main stream.
//   3. Besides the main stream's, at most `stream_count` leases are held.
class StreamSet {
 public:
  // `device` outlives the set. `exhaustion` says what Acquire() does when all streams are leased.
  StreamSet(StreamDevice* device, uint32_t stream_count, StreamExhaustion exhaustion);

  // Called once on the main thread, which thereby is the first thread to touch the device. Must
  // precede every lease.
  void InitializeMainThread();

  // Leases a stream and makes it the calling thread's current one. If all are leased, the set fails
  // at once, waits for a limited time, or waits without limit, as `exhaustion` says; the error is
  // RESOURCE_EXHAUSTED. FAILED_PRECONDITION before InitializeMainThread().
  absl::StatusOr<StreamLease> Acquire();

  // Leases the main stream, for the lane that runs on the main thread. RESOURCE_EXHAUSTED if it is
  // leased already.
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

// Stands for libtorch's header of that name: a stream that counts the waits for it.
#pragma once

#include <functional>
#include <thread>

#include "c10/core/Stream.h"
#include "dispatch/dispatch.h"

namespace at::mps {

enum class SyncType { NONE, COMMIT_AND_WAIT };

// Thread-compatible, as the queue makes its callers wait for each other.
class MPSStream {
 public:
  explicit MPSStream(c10::Stream stream) : stream_(stream) {}
  c10::Stream unwrap() const { return stream_; }
  dispatch_queue_t queue() { return &queue_; }

  // In the queue, as the real one has to be called while threads encode.
  void synchronize(SyncType type) {
    outside_of_the_queue += queue_.runner == std::this_thread::get_id() ? 0 : 1;
    if (type == SyncType::COMMIT_AND_WAIT) ++waits;
    if (on_wait) on_wait();
  }

  int waits = 0;
  int outside_of_the_queue = 0;
  std::function<void()> on_wait;

 private:
  const c10::Stream stream_;
  FakeQueue queue_;
};

}  // namespace at::mps

// GpuQueue: runs committed command buffers one after the other, on a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/metal/gpu/command_buffer.h"
#include "tests/metal/gpu/delays.h"

namespace mpsd::standin {

// The queues of a device run beside each other, each as late as its delays say. The destructor
// waits for what was committed. Thread-safe.
class GpuQueue {
 public:
  explicit GpuQueue(Delays delays);
  ~GpuQueue();
  GpuQueue(const GpuQueue&) = delete;
  GpuQueue& operator=(const GpuQueue&) = delete;

  // Runs the buffer after those that were committed before. False if the buffer refused.
  bool Commit(std::shared_ptr<CommandBuffer> buffer);

 private:
  void RunAll();
  std::shared_ptr<CommandBuffer> Next();

  Delays delays_;  // owned by thread_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<CommandBuffer>> committed_;  // guarded by mutex_
  bool is_ending_ = false;                                // guarded by mutex_
  std::thread thread_;
};

}  // namespace mpsd::standin

#include "tests/metal/rules/serial_queue.h"

#include <cstdlib>
#include <future>

namespace mpsd::standin {
namespace {

class Inside;

// The innermost block of a queue that the calling thread runs. It has no destructor, because other
// thread-local objects may wait in a queue at the thread's end.
thread_local const Inside* innermost = nullptr;

// One block, for as long as it runs. Lives on one thread.
class Inside {
 public:
  explicit Inside(const SerialQueue* queue) : queue_(queue), outer_(innermost) { innermost = this; }
  ~Inside() { innermost = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  static bool IsIn(const SerialQueue* queue) {
    const Inside* block = innermost;
    while (block != nullptr && block->queue_ != queue) block = block->outer_;
    return block != nullptr;
  }
  static const SerialQueue* Innermost() {
    return innermost == nullptr ? nullptr : innermost->queue_;
  }

 private:
  const SerialQueue* const queue_;
  const Inside* const outer_;
};

}  // namespace

SerialQueue::SerialQueue() : SerialQueue(std::getenv("MPSD_STANDIN_BLOCK_THREADS") != nullptr) {}

bool SerialQueue::IsInside() const { return Inside::IsIn(this); }

void* SerialQueue::MarkHere(const void* key) {
  const SerialQueue* const queue = Inside::Innermost();
  if (queue == nullptr) return nullptr;
  const auto found = queue->marks_.find(key);
  return found == queue->marks_.end() ? nullptr : found->second;
}

void SerialQueue::RunAndWait(const std::function<void()>& block) {
  if (IsInside()) {
    Broken(kWaitInOwnQueue, "dispatch_sync");
    block();
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_block_threads_) {
    std::async(std::launch::async, [&] { RunInside(block); }).get();
  } else {
    RunInside(block);
  }
}

void SerialQueue::RunInside(const std::function<void()>& block) {
  const Inside inside(this);
  try {
    block();
  } catch (...) {
    Broken(kExceptionInQueue, "dispatch_sync");
    throw;
  }
}

}  // namespace mpsd::standin

#include "tests/metal/rules/serial_queue.h"

#include <algorithm>
#include <vector>

namespace mpsd::standin {
namespace {

// The queues whose blocks the calling thread runs, the innermost last.
std::vector<const SerialQueue*>& QueuesOfThread() {
  static thread_local std::vector<const SerialQueue*> queues;
  return queues;
}

class Inside {
 public:
  explicit Inside(const SerialQueue* queue) { QueuesOfThread().push_back(queue); }
  ~Inside() { QueuesOfThread().pop_back(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace

bool SerialQueue::IsInside() const {
  const auto& queues = QueuesOfThread();
  return std::find(queues.begin(), queues.end(), this) != queues.end();
}

void SerialQueue::RunAndWait(const std::function<void()>& block) {
  if (IsInside()) {
    Broken(kWaitInOwnQueue, "dispatch_sync");
    block();
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const Inside inside(this);
  try {
    block();
  } catch (...) {
    Broken(kExceptionInQueue, "dispatch_sync");
    throw;
  }
}

}  // namespace mpsd::standin

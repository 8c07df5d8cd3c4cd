#include "tests/metal/rules/one_thread.h"

namespace mpsd::standin {

bool OneThread::Enter() {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id inside{};
  // No order is promised to the callers: a lock of this class would hide their races.
  if (!thread_.compare_exchange_strong(inside, self, std::memory_order_relaxed) && inside != self) {
    Broken(kTwoThreads, what_);
    return false;
  }
  ++depth_;
  // A real call takes its time, and two calls meet more often where it does.
  std::this_thread::yield();
  return true;
}

void OneThread::Leave() {
  if (--depth_ == 0) thread_.store({}, std::memory_order_relaxed);
}

}  // namespace mpsd::standin

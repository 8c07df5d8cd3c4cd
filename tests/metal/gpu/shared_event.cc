#include "tests/metal/gpu/shared_event.h"

#include <chrono>
#include <utility>
#include <vector>

namespace mpsd::standin {

uint64_t SharedEvent::value() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return value_;
}

void SharedEvent::Signal(uint64_t value) {
  std::vector<std::function<void()>> due;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (value < value_) Broken(kEventGoesBack, "signal");
    value_ = value;
    const auto end = listeners_.upper_bound(value);
    for (auto at = listeners_.begin(); at != end; ++at) due.push_back(std::move(at->second));
    listeners_.erase(listeners_.begin(), end);
    changed_.notify_all();
  }
  for (const auto& then : due) then();
}

void SharedEvent::WhenReached(uint64_t value, std::function<void()> then) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (value_ < value) {
      listeners_.emplace(value, std::move(then));
      return;
    }
  }
  then();
}

void SharedEvent::WaitFor(uint64_t value) const {
  std::unique_lock<std::mutex> lock(mutex_);
  const bool is_reached =
      changed_.wait_for(lock, std::chrono::seconds(20), [&] { return value_ >= value; });
  if (!is_reached) Broken(kNobodySignals, "encodeWaitForEvent");
}

}  // namespace mpsd::standin

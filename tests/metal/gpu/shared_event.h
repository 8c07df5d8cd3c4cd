// SharedEvent: a counter that gpu and host wait for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

inline constexpr Rule kNobodySignals{
    "nobody-signals", "a wait for a value that nobody signals stops its queue for ever"};
inline constexpr Rule kEventGoesBack{"event-goes-back", "the value of an event only grows"};

// Thread-safe.
class SharedEvent {
 public:
  uint64_t value() const;

  // Wakes those that wait for this value or a smaller one, and runs what they left.
  void Signal(uint64_t value);

  // Runs `then` once the value is reached: now, or on the thread that signals it.
  void WhenReached(uint64_t value, std::function<void()> then);

  // Blocks a queue of the gpu. Gives up after 20 s and breaks the rule.
  void WaitFor(uint64_t value) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t value_ = 0;                                        // guarded by mutex_
  std::multimap<uint64_t, std::function<void()>> listeners_;  // guarded by mutex_
};

}  // namespace mpsd::standin

// StallWatch: for how long this host has kept a thread from running that only wanted to look.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/synchronization/notification.h"

namespace mpsd::crash {

// Adds up the time for which the host gave nobody a processor: a server's late work then is not the
// server's fault. Its thread sleeps for short times, and counts how late it was woken. Thread-safe.
class StallWatch {
 public:
  StallWatch() : thread_([this] { Main(); }) {}
  ~StallWatch();

  // Since the beginning; what is shorter than a few milliseconds is nothing out of the ordinary.
  int64_t StalledNs() const { return stalled_ns_.load(std::memory_order_relaxed); }

 private:
  void Main();

  std::atomic<int64_t> stalled_ns_{0};
  absl::Notification stop_;
  std::thread thread_;
};

}  // namespace mpsd::crash

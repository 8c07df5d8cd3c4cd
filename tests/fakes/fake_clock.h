// FakeClock: time that stands still until a test moves it.
#pragma once

#include <atomic>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// Owned by the test, outlives all that uses it. Thread-safe.
class FakeClock final : public Clock {
 public:
  int64_t NowNs() const override { return now_ns_.load(std::memory_order_relaxed); }

  void Advance(int64_t ns) { now_ns_.fetch_add(ns, std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> now_ns_{1000 * kNsPerSecond};
};

}  // namespace mpsd

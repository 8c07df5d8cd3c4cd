// BellWatch: detects a worker that rings for nothing too often. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/rate_limit.h"

namespace mpsd {

// An honest worker rings at most once per completion, but the completion may be taken before the
// ring is seen. So each completion pays for one ring, and a rate limit bounds unpaid rings. One per
// incarnation; owned by Bells. Thread-compatible.
class BellWatch {
 public:
  static constexpr uint32_t kEmptyRingsPerSecond = 1000;

  explicit BellWatch(int64_t now_ns) : empty_rings_(kEmptyRingsPerSecond, now_ns) {}

  // The bell has rung, once or several times. `consumed`: completions of the worker taken so far,
  // modulo 2^32. False if too many rings were for nothing.
  bool OnRing(uint32_t consumed, int64_t now_ns) {
    paid_ = std::min<uint64_t>(kEmptyRingsPerSecond, paid_ + (consumed - consumed_));
    consumed_ = consumed;
    if (paid_ == 0) return empty_rings_.Take(now_ns);
    --paid_;
    return true;
  }

 private:
  RateLimit empty_rings_;
  uint32_t consumed_ = 0;
  uint64_t paid_ = 0;  // rings that completions have paid for
};

}  // namespace mpsd

// When a worker rings for nothing too often. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/rate_limit.h"

namespace mpsd {

// Of one incarnation. An honest worker rings once a completion at most, but what it rings for may
// be taken before the ring is seen, or after it: each completion pays for one ring, whichever comes
// first, and what is owed beyond that is for the rate limit to bear. Thread-compatible.
class BellWatch {
 public:
  static constexpr uint32_t kEmptyRingsPerSecond = 1000;

  explicit BellWatch(int64_t now_ns) : empty_rings_(kEmptyRingsPerSecond, now_ns) {}

  // The bell has rung, one time or several; `consumed` completions of the worker have been taken so
  // far, modulo 2^32. False when too many rings were for nothing.
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
  uint64_t paid_ = 0;  // rings that have their completion
};

}  // namespace mpsd

// BellWatch: when a worker rings for nothing too often. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/rate_limit.h"

namespace mpsd {

// The rings of one worker incarnation. An honest worker rings at most once for each completion, but
// the completion may be taken before the ring is seen, or after it. So each completion pays for one
// ring, whichever comes first, and a rate limit bounds the rings that no completion has paid for.
// Owned by the completion thread. Thread-compatible.
class BellWatch {
 public:
  static constexpr uint32_t kEmptyRingsPerSecond = 1000;

  explicit BellWatch(int64_t now_ns) : empty_rings_(kEmptyRingsPerSecond, now_ns) {}

  // The bell has rung, once or several times. `consumed` completions of the worker have been taken
  // in all, modulo 2^32. False when too many rings were for nothing.
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

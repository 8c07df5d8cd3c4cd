// RateLimit: allows a number of events a second, and no more than that at once.
//
// For events that others cause at will. The owner drops, counts or delays a refused event:
//
//   if (!lines.Take(clock->NowNs())) return ++dropped;
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// A token bucket of one second's worth: at most `per_second` events at one instant, and twice as
// many in any second. Pure. Thread-compatible.
class RateLimit {
 public:
  // The bucket starts with `saved_ns`, at most one second. REQUIRES: per_second > 0.
  RateLimit(uint32_t per_second, int64_t now_ns, int64_t saved_ns = kNsPerSecond)
      : cost_ns_(kNsPerSecond / per_second), saved_ns_(saved_ns), last_ns_(now_ns) {}

  // An allowed event counts; a refused one costs nothing. `now_ns` never decreases.
  bool Take(int64_t now_ns) {
    saved_ns_ = std::min(kNsPerSecond, saved_ns_ + (now_ns - last_ns_));
    last_ns_ = now_ns;
    if (saved_ns_ < cost_ns_) return false;
    saved_ns_ -= cost_ns_;
    return true;
  }

 private:
  const int64_t cost_ns_;  // saved time that one event uses up
  int64_t saved_ns_;       // between 0 and one second
  int64_t last_ns_;
};

}  // namespace mpsd

// RateLimit: allows a number of events a second, and no more than that at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// A bucket of tokens that fills with time, up to one second's worth, and starts full unless it is
// told otherwise. Says whether, never waits. Pure. Thread-compatible.
class RateLimit {
 public:
  // `saved_ns`: the time whose tokens it starts with, at most one second.
  RateLimit(uint32_t per_second, int64_t now_ns, int64_t saved_ns = kNsPerSecond)
      : cost_ns_(kNsPerSecond / per_second), saved_ns_(saved_ns), last_ns_(now_ns) {}

  // True when one more event is allowed at `now_ns`, which never decreases from call to call.
  bool Take(int64_t now_ns) {
    saved_ns_ = std::min(kNsPerSecond, saved_ns_ + (now_ns - last_ns_));
    last_ns_ = now_ns;
    if (saved_ns_ < cost_ns_) return false;
    saved_ns_ -= cost_ns_;
    return true;
  }

 private:
  const int64_t cost_ns_;
  int64_t saved_ns_;  // between 0 and one second
  int64_t last_ns_;
};

}  // namespace mpsd

// RateLimit: allows a number of events a second, and no more than that at once.
//
// For what somebody else can make happen as often as they like: log lines, a worker's output,
// messages on its control socket, rings of its bell. The owner drops, counts or puts off what is
// refused:
//
//   if (!lines.Take(clock->NowNs())) return ++dropped;
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// A bucket of tokens that fills with time, up to one second's worth: so at most `per_second` events
// at one instant, and at most twice as many in any one second. It starts full unless it is told
// otherwise. Says whether, never waits, and reads no clock itself. Pure. Thread-compatible.
class RateLimit {
 public:
  // `saved_ns`: the time whose tokens it starts with, at most one second. REQUIRES: per_second > 0.
  RateLimit(uint32_t per_second, int64_t now_ns, int64_t saved_ns = kNsPerSecond)
      : cost_ns_(kNsPerSecond / per_second), saved_ns_(saved_ns), last_ns_(now_ns) {}

  // True when one more event is allowed at `now_ns`, which never decreases from call to call; the
  // event then counts. False costs nothing.
  bool Take(int64_t now_ns) {
    saved_ns_ = std::min(kNsPerSecond, saved_ns_ + (now_ns - last_ns_));
    last_ns_ = now_ns;
    if (saved_ns_ < cost_ns_) return false;
    saved_ns_ -= cost_ns_;
    return true;
  }

 private:
  const int64_t cost_ns_;  // of one event, in saved time
  int64_t saved_ns_;       // between 0 and one second
  int64_t last_ns_;
};

}  // namespace mpsd

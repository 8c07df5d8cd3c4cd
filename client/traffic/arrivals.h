// Arrivals: the intended send times of an open-loop run. They do not depend on the server, so a
// slow server cannot slow the load down.
//
// Requests of many independent clients arrive as a Poisson process: the gaps between them are
// exponentially distributed, and short gaps are common. With a burst of n, groups of n arrive at
// the same instant, with gaps n times as long, so the rate stays.
//
//   burst 1   │ ││    │  │││ │     │ ││
//   burst 3   ┃            ┃   ┃              three requests at each
#pragma once

#include <cstdint>
#include <random>

namespace mpsd::traffic {

// Draws one time after another and keeps none. Owned by the thread that sends. The same seed gives
// the same times on every platform. Thread-compatible.
class Arrivals {
 public:
  // Poisson arrivals of groups of `burst` requests, with a mean of `rate` requests a second; burst
  // 1 is the plain Poisson process. Each pump has a seed and a share of the rate of its own;
  // together they are again such a process. REQUIRES: rate > 0 and burst > 0.
  Arrivals(double rate, uint32_t burst, uint64_t seed);

  // The next intended send time, in nanoseconds after the start. Never decreases.
  int64_t NextNs();

 private:
  const double mean_gap_ns_;  // between two groups
  const uint32_t burst_;
  std::mt19937_64 bits_;
  uint32_t left_in_burst_ = 0;
  double now_ns_ = 0;
};

}  // namespace mpsd::traffic

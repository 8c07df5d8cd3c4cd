// GapArrivals: times whose gaps are drawn one by one, independent of each other.
//
// Requests of many independent clients arrive as a Poisson process, whose gaps have a coefficient
// of variation of 1. With a larger one requests come in swarms: the gaps have a gamma distribution,
// most of them tiny and a few very long. With a burst of n, groups of n arrive at once, with gaps n
// times as long. The rate stays.
//
//   cv 1      │ ││    │  │││ │     │ ││
//   cv 4      ││││            │││││ │
//   burst 3   ┃            ┃   ┃              three requests at each
#pragma once

#include <cstdint>
#include <random>

#include "client/traffic/arrivals.h"

namespace mpsd::traffic {

// Draws one time after another. Thread-compatible.
class GapArrivals final : public Arrivals {
 public:
  // Groups of `burst` requests, with a mean of `rate` requests a second. `cv` is the standard
  // deviation of the gaps between groups, divided by their mean. REQUIRES: all are above 0.
  GapArrivals(double rate, double cv, uint32_t burst, uint64_t seed);

  int64_t NextNs() override;

 private:
  const double shape_;     // shape of the gaps' distribution
  const double scale_ns_;  // factor for the drawn numbers
  const uint32_t burst_;
  std::mt19937_64 bits_;
  uint32_t left_in_burst_ = 0;
  double now_ns_ = 0;
};

}  // namespace mpsd::traffic

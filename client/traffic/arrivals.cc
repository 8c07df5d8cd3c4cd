#include "client/traffic/arrivals.h"

#include <algorithm>
#include <cmath>

#include "proto/base/check.h"

namespace mpsd::traffic {
namespace {

constexpr double kFarthestNs =
    1e18;  // some 30 years; fits the result, added to a clock's time, too

}  // namespace

Arrivals::Arrivals(double rate, uint32_t burst, uint64_t seed)
    : mean_gap_ns_(1e9 * burst / rate), burst_(burst), bits_(seed) {
  MPSD_CHECK(rate > 0);
  MPSD_CHECK(burst > 0);
}

int64_t Arrivals::NextNs() {
  if (left_in_burst_ == 0) {
    // Computed here, because the standard does not fix the values of std::exponential_distribution.
    const double uniform = static_cast<double>(bits_() >> 11) * 0x1p-53;
    now_ns_ -= std::log1p(-uniform) * mean_gap_ns_;
    left_in_burst_ = burst_;
  }
  --left_in_burst_;
  return static_cast<int64_t>(std::min(now_ns_, kFarthestNs));
}

}  // namespace mpsd::traffic

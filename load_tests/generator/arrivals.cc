#include "load_tests/generator/arrivals.h"

#include <cmath>

#include "proto/base/check.h"

namespace mpsd::load {

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
  return static_cast<int64_t>(now_ns_);
}

}  // namespace mpsd::load

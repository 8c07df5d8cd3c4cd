#include "client/traffic/gap_arrivals.h"

#include <algorithm>

#include "client/traffic/random_draws.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd::traffic {

GapArrivals::GapArrivals(double rate, double cv, uint32_t burst, uint64_t seed)
    : shape_(1 / (cv * cv)),
      scale_ns_(static_cast<double>(kNsPerSecond) * burst / rate / shape_),
      burst_(burst),
      bits_(seed) {
  MPSD_CHECK(rate > 0);
  MPSD_CHECK(cv > 0);
  MPSD_CHECK(burst > 0);
}

int64_t GapArrivals::NextNs() {
  if (left_in_burst_ == 0) {
    now_ns_ += DrawGamma(shape_, &bits_) * scale_ns_;
    left_in_burst_ = burst_;
  }
  --left_in_burst_;
  return static_cast<int64_t>(std::min<double>(now_ns_, kFarthestNs));
}

}  // namespace mpsd::traffic

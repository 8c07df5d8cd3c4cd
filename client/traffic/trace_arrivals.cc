#include "client/traffic/trace_arrivals.h"

#include <algorithm>

#include "client/traffic/random_draws.h"
#include "proto/base/check.h"

namespace mpsd::traffic {

TraceArrivals::TraceArrivals(const Trace& trace, uint64_t seed) : trace_(trace), bits_(seed) {
  MPSD_CHECK(trace.CallsPerSecond() > 0);
}

int64_t TraceArrivals::NextNs() {
  while (next_time_ == times_.size()) DrawNextBin();
  return times_[next_time_++];
}

void TraceArrivals::DrawNextBin() {
  const double bin_ns = static_cast<double>(trace_.bin_ns);
  const double begin_ns = static_cast<double>(next_bin_) * bin_ns;
  times_.clear();
  next_time_ = 0;
  for (uint32_t left = trace_.calls[next_bin_ % trace_.calls.size()]; left > 0; --left) {
    const double at_ns = begin_ns + DrawUnit(&bits_) * bin_ns;
    times_.push_back(static_cast<int64_t>(std::min<double>(at_ns, kFarthestNs)));
  }
  std::sort(times_.begin(), times_.end());
  ++next_bin_;
}

}  // namespace mpsd::traffic

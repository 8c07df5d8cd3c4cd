#include "client/traffic/timeline.h"

#include <algorithm>

#include "proto/base/check.h"

namespace mpsd::traffic {

void Timeline::Merge(const Timeline& other) {
  if (other.span_ns_ == 0) return;
  MPSD_CHECK(span_ns_ == 0 || span_ns_ == other.span_ns_);
  span_ns_ = other.span_ns_;
  for (size_t event = 0; event < kEventCount; ++event) {
    std::vector<uint64_t>& counts = counts_[event];
    const std::vector<uint64_t>& more = other.counts_[event];
    counts.resize(std::max(counts.size(), more.size()));
    for (size_t i = 0; i < more.size(); ++i) counts[i] += more[i];
  }
}

}  // namespace mpsd::traffic

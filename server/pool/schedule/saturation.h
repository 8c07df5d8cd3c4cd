// Saturation: how near a pool is to turning requests away, for those who add or remove hosts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mpsd {

// The largest of these shares, each from 0 to 1, in the last seconds:
//
//   a batch starts     what its requests have waited, of the time until their deadlines
//   one is queued      how full it finds the queue, by requests or by bytes
//   one is refused     1: the queue is full, or no lane would be free in time
//   one has expired    1
//
// A share counts for half of itself after kHalfNs. Thread-compatible: its pool's mutex guards it.
class Saturation {
 public:
  static constexpr int64_t kHalfNs = 5'000'000'000;

  // `now_ns` never falls.
  void Note(double share, int64_t now_ns) {
    share_ = std::max(At(now_ns), std::clamp(share, 0.0, 1.0));
    since_ns_ = now_ns;
  }

  static double OfWait(int64_t arrival_ns, int64_t deadline_ns, int64_t now_ns) {
    const auto whole_ns = static_cast<double>(std::max<int64_t>(deadline_ns - arrival_ns, 1));
    return static_cast<double>(now_ns - arrival_ns) / whole_ns;
  }

  double At(int64_t now_ns) const {
    const auto halves = static_cast<double>(now_ns - since_ns_) / static_cast<double>(kHalfNs);
    return share_ * std::exp2(-halves);
  }

 private:
  double share_ = 0;
  int64_t since_ns_ = 0;
};

}  // namespace mpsd

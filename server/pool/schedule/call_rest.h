// CallRest: what is left of a call of several requests, once some of them were answered.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mpsd {

// A value. `batch_ns` is how long a batch of `batch_rows` rows takes at best.
struct CallRest {
  uint64_t rows = 0;
  uint32_t batch_rows = 1;
  int64_t batch_ns = 0;
  uint32_t lanes = 1;
  int64_t deadline_ns = 0;
};

// By how much the last rows miss the deadline even if all lanes work for this call alone. Pure.
inline int64_t LeastLatenessNs(const CallRest& rest, int64_t now_ns) {
  const uint64_t rounds = rest.rows / (uint64_t{rest.batch_rows} * rest.lanes);
  const double end_ns = static_cast<double>(now_ns) +
                        static_cast<double>(rounds) * static_cast<double>(rest.batch_ns);
  const double late_ns = end_ns - static_cast<double>(rest.deadline_ns);
  constexpr double kMostNs = 1e18;
  return static_cast<int64_t>(std::clamp(late_ns, 0.0, kMostNs));
}

}  // namespace mpsd

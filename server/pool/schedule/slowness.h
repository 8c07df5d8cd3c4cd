// Slowness: a worker's batch times, as a multiple of its pool's curve.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace mpsd {

// A throttled device or swapped memory makes a worker late long before it dies. So each worker's
// times are compared with the curve of all, and the workers with each other:
//
//   worker 0   1.0 1.1 0.9 1.0 …   middle 1.0 ─┐ usual: the lower middle of all
//   worker 1   3.1 2.9 3.0 3.2 …   middle 3.0 ─┘ 3.0 times the usual: slow
//
// One per incarnation of a worker. Thread-compatible: its pool's mutex guards it.
class Slowness {
 public:
  static constexpr size_t kRuns = 7;

  // A host may delay any process this long now and then.
  static constexpr int64_t kNoiseNs = 100'000;

  // REQUIRES: expected_ns > 0.
  void Note(int64_t expected_ns, int64_t took_ns) {
    last_ = RatioOf(expected_ns, took_ns);
    ratios_[count_++ % kRuns] = last_;
    std::array<double, kRuns> sorted = ratios_;
    std::nth_element(sorted.begin(), sorted.begin() + kRuns / 2, sorted.end());
    middle_ = sorted[kRuns / 2];
  }

  bool known() const { return count_ >= kRuns; }

  // The middle of the last kRuns batches: a few long ones say nothing. REQUIRES: known().
  double ratio() const { return middle_; }

  double last() const { return last_; }

 private:
  static double RatioOf(int64_t expected_ns, int64_t took_ns) {
    const int64_t counted_ns = std::max(took_ns - kNoiseNs, std::min(took_ns, expected_ns));
    return static_cast<double>(counted_ns) / static_cast<double>(expected_ns);
  }

  std::array<double, kRuns> ratios_{};
  uint64_t count_ = 0;
  double middle_ = 1;
  double last_ = 1;
};

// A worker is slow from the first multiple of the usual ratio on, until it is below the second.
inline constexpr double kSlowFrom = 2;
inline constexpr double kSlowUntil = 1.5;

// The lower middle, so that never all are slow, and of two not the faster one. Reorders `ratios`.
// REQUIRES: there is one. Pure.
inline double UsualRatio(absl::Span<double> ratios) {
  const auto middle = ratios.begin() + static_cast<ptrdiff_t>((ratios.size() - 1) / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

// A multiple of the usual ratio; 1 if the worker is not slow. Pure.
inline double SlownessOf(double ratio, double usual, bool was_slow) {
  const double slowness = ratio / std::max(usual, 1e-9);
  return slowness >= (was_slow ? kSlowUntil : kSlowFrom) ? slowness : 1;
}

}  // namespace mpsd

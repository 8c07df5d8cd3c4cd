// Slowness: a worker's batch times, as a multiple of its pool's curve.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace mpsd {

// A worker can be sick long before it dies: its device is throttled, its cores are taken, its
// memory is swapped out. It still answers, but late, and delays each request that it gets. So each
// worker's times are compared with the curve of all, and the workers with each other:
//
//   worker 0   1.0 1.1 0.9 1.0 …   middle 1.0 ─┐ usual: the lower middle of all
//   worker 1   3.1 2.9 3.0 3.2 …   middle 3.0 ─┘ 3.0 times the usual: slow
//
// Learns from completed batches; there is one per incarnation of a worker. The middle of the last
// kRuns counts, so that fewer than half of them, however long, say nothing. Owned by the
// InflightTable. Thread-compatible: guarded by the pool's mutex. It reads no clock.
class Slowness {
 public:
  static constexpr size_t kRuns = 7;

  // A host may delay any process this long now and then; a batch does not count as late for it.
  static constexpr int64_t kNoiseNs = 100'000;

  // A batch took `took_ns`; the curve said `expected_ns`. REQUIRES: expected_ns > 0.
  void Note(int64_t expected_ns, int64_t took_ns) {
    last_ = RatioOf(expected_ns, took_ns);
    ratios_[count_++ % kRuns] = last_;
    std::array<double, kRuns> sorted = ratios_;
    std::nth_element(sorted.begin(), sorted.begin() + kRuns / 2, sorted.end());
    middle_ = sorted[kRuns / 2];
  }

  // False until kRuns batches were noted. ratio() REQUIRES it.
  bool known() const { return count_ >= kRuns; }

  // The middle ratio of the last kRuns batches.
  double ratio() const { return middle_; }

  // The ratio of the last batch.
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

// A worker is slow from this multiple of the usual ratio on, until it is below the second one.
inline constexpr double kSlowFrom = 2;
inline constexpr double kSlowUntil = 1.5;

// The usual ratio of a pool's workers: the lower middle of all. Reorders `ratios`. At least half of
// the workers are no slower, so never all are slow, and of two the faster one is not. REQUIRES:
// there is one. Pure.
inline double UsualRatio(absl::Span<double> ratios) {
  const auto middle = ratios.begin() + static_cast<ptrdiff_t>((ratios.size() - 1) / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

// A worker's ratio as a multiple of the usual one; 1 if the worker is not slow. Pure.
inline double SlownessOf(double ratio, double usual, bool was_slow) {
  const double slowness = ratio / std::max(usual, 1e-9);
  return slowness >= (was_slow ? kSlowUntil : kSlowFrom) ? slowness : 1;
}

}  // namespace mpsd

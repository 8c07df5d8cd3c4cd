// Slowness: how many times as long as its pool's curve says a worker's batches take.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace mpsd {

// A worker can be sick long before it is dead: its device is throttled, its cores are taken, its
// memory is swapped out. It still answers, late, and drags down every request that it gets. So the
// times of each worker are compared with the curve of all, and the workers with each other:
//
//   worker 0   1.0 1.1 0.9 1.0 …   middle 1.0 ─┐ usual: the lower middle of all
//   worker 1   3.1 2.9 3.0 3.2 …   middle 3.0 ─┘ 3.0 times the usual: slow
//
// Learned from completed batches, one for each incarnation of a worker. The middle one of the last
// kRuns counts, so that fewer than half of them, however long, say nothing. Owned by the
// InflightTable. Thread-compatible: guarded by the pool's mutex. It reads no clock.
class Slowness {
 public:
  static constexpr size_t kRuns = 7;

  // A host delays any process for so long now and then: a batch is not said to be late for that.
  static constexpr int64_t kNoiseNs = 100'000;

  // A batch took `took_ns`, and `expected_ns` by the curve. REQUIRES: expected_ns > 0.
  void Note(int64_t expected_ns, int64_t took_ns) {
    last_ = RatioOf(expected_ns, took_ns);
    ratios_[count_++ % kRuns] = last_;
    std::array<double, kRuns> sorted = ratios_;
    std::nth_element(sorted.begin(), sorted.begin() + kRuns / 2, sorted.end());
    middle_ = sorted[kRuns / 2];
  }

  // False until kRuns batches were noted. REQUIRED by ratio().
  bool known() const { return count_ >= kRuns; }

  // The middle one of the last kRuns, as a multiple of the curve.
  double ratio() const { return middle_; }

  // That of the last batch alone.
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

// From so many times the usual on a worker is slow, and until it is below so many.
inline constexpr double kSlowFrom = 2;
inline constexpr double kSlowUntil = 1.5;

// What the workers of a pool usually take: the lower middle of their ratios, which are reordered.
// At least half of them are no slower, so never all are slow, and of two the faster one is not.
// REQUIRES: there is one. Pure.
inline double UsualRatio(absl::Span<double> ratios) {
  const auto middle = ratios.begin() + static_cast<ptrdiff_t>((ratios.size() - 1) / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

// How many times as long as usual a worker's batches take; 1 for one that is not slow. Pure.
inline double SlownessOf(double ratio, double usual, bool was_slow) {
  const double slowness = ratio / std::max(usual, 1e-9);
  return slowness >= (was_slow ? kSlowUntil : kSlowFrom) ? slowness : 1;
}

}  // namespace mpsd

// LatencyHistogram: latencies in bounded memory, each with an error below one per cent.
//
//   0 … 255   1 ns wide │ 256 … 511   2 ns wide │ 512 … 1023   4 ns wide │ …   up to 2^41 ns
//
// 4,480 counters hold any number of latencies.
#pragma once

#include <cstdint>
#include <vector>

namespace mpsd::traffic {

// Each recording thread has its own. Recording allocates nothing. Values beyond 2^41 ns (36
// minutes) count as that, negative ones as 0. Thread-compatible.
class LatencyHistogram {
 public:
  LatencyHistogram();

  void Record(int64_t ns);
  void Merge(const LatencyHistogram& other);

  // All 0 without values; the mean is exact.
  uint64_t count() const { return count_; }
  int64_t max_ns() const { return max_ns_; }
  double MeanNs() const;

  // The smallest value that at least `quantile` of all values do not exceed, rounded up to the end
  // of its bucket, but not above max_ns(). 0: nothing was recorded. REQUIRES: 0 <= quantile <= 1.
  int64_t QuantileNs(double quantile) const;

 private:
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  int64_t max_ns_ = 0;
  double sum_ns_ = 0;
};

}  // namespace mpsd::traffic

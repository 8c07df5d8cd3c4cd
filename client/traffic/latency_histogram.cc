#include "client/traffic/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "proto/base/check.h"

namespace mpsd::traffic {
namespace {

// Values below 2^kLinearBits have a bucket each; each doubling above has 2^(kLinearBits - 1).
constexpr int kLinearBits = 8;
constexpr int kValueBits = 41;
constexpr uint64_t kHalf = 1ULL << (kLinearBits - 1);
constexpr size_t kBuckets = (kValueBits - kLinearBits + 2) * kHalf;

size_t BucketOf(uint64_t value) {
  if (value < 2 * kHalf) return value;
  const int shift = std::bit_width(value) - kLinearBits;
  return static_cast<size_t>(shift) * kHalf + (value >> shift);
}

uint64_t BucketEnd(size_t bucket) {
  if (bucket < 2 * kHalf) return bucket;
  const uint64_t shift = bucket / kHalf - 1;
  const uint64_t mantissa = bucket - shift * kHalf;
  return ((mantissa + 1) << shift) - 1;
}

}  // namespace

LatencyHistogram::LatencyHistogram() : counts_(kBuckets) {}

void LatencyHistogram::Record(int64_t ns) {
  const auto value = static_cast<uint64_t>(std::clamp<int64_t>(ns, 0, (1LL << kValueBits) - 1));
  ++counts_[BucketOf(value)];
  ++count_;
  max_ns_ = std::max(max_ns_, static_cast<int64_t>(value));
  sum_ns_ += static_cast<double>(value);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
}

double LatencyHistogram::MeanNs() const {
  return count_ == 0 ? 0 : sum_ns_ / static_cast<double>(count_);
}

int64_t LatencyHistogram::QuantileNs(double quantile) const {
  MPSD_CHECK(quantile >= 0 && quantile <= 1);
  if (count_ == 0) return 0;
  const auto wanted = std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_))));
  uint64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::min(static_cast<int64_t>(BucketEnd(i)), max_ns_);
  }
  return max_ns_;
}

}  // namespace mpsd::traffic

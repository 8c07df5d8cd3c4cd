#include "client/traffic/latency_histogram.h"

#include <gtest/gtest.h>

namespace mpsd::traffic {
namespace {

TEST(LatencyHistogram, IsZeroWhenEmpty) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.QuantileNs(0.99), 0);
  EXPECT_EQ(histogram.MeanNs(), 0);
}

TEST(LatencyHistogram, KeepsSmallValuesExactly) {
  LatencyHistogram histogram;
  for (int64_t ns = 1; ns <= 100; ++ns) histogram.Record(ns);
  EXPECT_EQ(histogram.QuantileNs(0), 1);
  EXPECT_EQ(histogram.QuantileNs(0.5), 50);
  EXPECT_EQ(histogram.QuantileNs(0.99), 99);
  EXPECT_EQ(histogram.QuantileNs(1), 100);
  EXPECT_DOUBLE_EQ(histogram.MeanNs(), 50.5);
}

TEST(LatencyHistogram, KeepsEveryMagnitudeToOnePerCent) {
  for (int64_t ns = 1; ns < 1LL << 40; ns = ns * 9 / 7 + 1) {
    LatencyHistogram histogram;
    histogram.Record(ns);
    histogram.Record(1LL << 41);  // so that the largest value does not cap the quantile
    EXPECT_GE(histogram.QuantileNs(0.5), ns);
    EXPECT_LE(static_cast<double>(histogram.QuantileNs(0.5)), static_cast<double>(ns) * 1.01);
  }
}

TEST(LatencyHistogram, CountsImpossibleValuesAtItsEnds) {
  LatencyHistogram histogram;
  histogram.Record(-5);
  histogram.Record(INT64_MAX);
  EXPECT_EQ(histogram.QuantileNs(0.5), 0);
  EXPECT_EQ(histogram.QuantileNs(1), (1LL << 41) - 1);
}

TEST(LatencyHistogram, MergesLikeOneHistogram) {
  LatencyHistogram one;
  LatencyHistogram other;
  for (int64_t ns = 1; ns <= 50; ++ns) one.Record(ns);
  for (int64_t ns = 51; ns <= 100; ++ns) other.Record(ns);
  one.Merge(other);
  EXPECT_EQ(one.count(), 100u);
  EXPECT_EQ(one.QuantileNs(0.9), 90);
  EXPECT_EQ(one.max_ns(), 100);
}

}  // namespace
}  // namespace mpsd::traffic

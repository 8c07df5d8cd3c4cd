#include "client/bench/load_point.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "proto/base/clock.h"

namespace mpsd::bench {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// An open-loop run of two seconds: `right` answers after 1, 2, 3, … ms, of `intended` requests.
traffic::LoadResult ResultOf(uint64_t right, uint64_t intended) {
  traffic::LoadResult result;
  result.window_seconds = 2;
  result.counts.intended = intended;
  result.counts.answered_in_window = right;
  for (uint64_t i = 1; i <= right; ++i) {
    result.counts.latency.Record(static_cast<int64_t>(i) * kNsPerMs);
  }
  return result;
}

TEST(LoadPoint, CountsPerSecond) {
  const LoadPoint point = MakeLoadPoint({.rate = 60}, ResultOf(100, 120), {}, {}, nullptr);
  EXPECT_DOUBLE_EQ(point.offered, 60);
  EXPECT_DOUBLE_EQ(point.answered, 50);
  EXPECT_FALSE(point.meets_slo);
}

TEST(LoadPoint, ARequestThatFailedNeverCame) {
  const Slo slo{.quantile = 0.9, .bound_ns = 1000 * kNsPerMs};
  const LoadPoint all = MakeLoadPoint({.rate = 50}, ResultOf(100, 100), {}, {}, &slo);
  EXPECT_NEAR(static_cast<double>(all.p50_ns), 50e6, 1e6);
  EXPECT_NEAR(static_cast<double>(all.p99_ns), 99e6, 1e6);
  EXPECT_TRUE(all.meets_slo);
  const LoadPoint most = MakeLoadPoint({.rate = 50}, ResultOf(95, 100), {}, {}, &slo);
  EXPECT_NEAR(static_cast<double>(most.p50_ns), 50e6, 1e6);
  EXPECT_NEAR(static_cast<double>(most.slo_latency_ns), 90e6, 1e6);
  EXPECT_EQ(most.p99_ns, kNever);
  EXPECT_TRUE(most.meets_slo);
  const LoadPoint few = MakeLoadPoint({.rate = 50}, ResultOf(89, 100), {}, {}, &slo);
  EXPECT_EQ(few.slo_latency_ns, kNever);
  EXPECT_FALSE(few.meets_slo);
}

TEST(LoadPoint, WithoutRequestsHasNothingToTell) {
  const Slo slo{.quantile = 0.5, .bound_ns = 1000 * kNsPerMs};
  const LoadPoint point = MakeLoadPoint({.rate = 0.1}, ResultOf(0, 0), {}, {}, &slo);
  EXPECT_EQ(point.due, 0u);
  EXPECT_FALSE(point.meets_slo);
  EXPECT_EQ(point.p50_ns, kNever);
  EXPECT_EQ(MakeLoadPoint({.rate = 0.1}, ResultOf(1, 3), {}, {}, &slo).due, 3u);
}

TEST(LoadPoint, ErrorsOfClientsCountAsRequests) {
  traffic::LoadResult result = ResultOf(50, 0);
  result.counts.ended_in_window = 100;
  result.counts.errors[8] = 49;
  result.counts.wrong = 1;
  const Slo slo{.quantile = 0.6, .bound_ns = 1000 * kNsPerMs};
  const LoadPoint point = MakeLoadPoint({.clients = 4}, result, {}, {}, &slo);
  EXPECT_DOUBLE_EQ(point.offered, 50);
  EXPECT_EQ(point.errors.at("RESOURCE_EXHAUSTED"), 49u);
  EXPECT_EQ(point.errors.at("WRONG"), 1u);
  EXPECT_FALSE(point.meets_slo);
}

TEST(LoadPoint, TheMeanBatchIsOfTheRunAlone) {
  const LoadPoint point =
      MakeLoadPoint({.rate = 50}, ResultOf(10, 10), {.rows = 100, .batches = 90},
                    {.rows = 140, .batches = 100}, nullptr);
  EXPECT_DOUBLE_EQ(point.mean_batch, 4);
  EXPECT_EQ(MakeLoadPoint({.rate = 50}, ResultOf(10, 10), {.rows = 100, .batches = 90},
                          {.rows = 4, .batches = 2}, nullptr)
                .mean_batch,
            0);
}

TEST(LoadPoint, ALoadHasAName) {
  EXPECT_EQ(LoadText({.clients = 1}), "1 client");
  EXPECT_EQ(LoadText({.clients = 16}), "16 clients");
  EXPECT_EQ(LoadText({.rate = 250}), "250 /s");
}

}  // namespace
}  // namespace mpsd::bench

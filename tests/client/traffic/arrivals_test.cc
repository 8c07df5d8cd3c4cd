#include "client/traffic/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mpsd::traffic {
namespace {

TEST(Arrivals, KeepTheRateInTheMean) {
  Arrivals arrivals(1000, 1, 7);
  int64_t last_ns = 0;
  for (int i = 0; i < 100'000; ++i) last_ns = arrivals.NextNs();
  EXPECT_NEAR(static_cast<double>(last_ns) * 1e-9, 100, 1.5);
}

TEST(Arrivals, KeepTheRateInBurstsToo) {
  Arrivals arrivals(1000, 10, 7);
  int64_t last_ns = 0;
  for (int i = 0; i < 100'000; ++i) last_ns = arrivals.NextNs();
  EXPECT_NEAR(static_cast<double>(last_ns) * 1e-9, 100, 4);
}

TEST(Arrivals, HaveThePoissonProcessGaps) {
  Arrivals arrivals(1000, 1, 3);
  int64_t before_ns = 0;
  int longer_than_mean = 0;
  for (int i = 0; i < 10'000; ++i) {
    const int64_t now_ns = arrivals.NextNs();
    ASSERT_GE(now_ns, before_ns);
    if (now_ns - before_ns > 1'000'000) ++longer_than_mean;
    before_ns = now_ns;
  }
  EXPECT_NEAR(longer_than_mean, 10'000 * std::exp(-1), 200);
}

TEST(Arrivals, SendABurstAtOnce) {
  Arrivals arrivals(1000, 3, 1);
  const int64_t first_ns = arrivals.NextNs();
  EXPECT_EQ(arrivals.NextNs(), first_ns);
  EXPECT_EQ(arrivals.NextNs(), first_ns);
  EXPECT_GT(arrivals.NextNs(), first_ns);
}

TEST(Arrivals, RepeatWithTheSeedAndDifferWithout) {
  Arrivals one(50, 1, 11);
  Arrivals same(50, 1, 11);
  Arrivals other(50, 1, 12);
  const int64_t first_ns = one.NextNs();
  EXPECT_EQ(same.NextNs(), first_ns);
  EXPECT_NE(other.NextNs(), first_ns);
}

}  // namespace
}  // namespace mpsd::traffic

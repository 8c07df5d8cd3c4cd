#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "client/traffic/arrival_plan.h"

namespace mpsd::traffic {
namespace {

// The gaps of so many arrivals, in milliseconds.
std::vector<double> Gaps(GapArrivals arrivals, int count) {
  std::vector<double> gaps;
  int64_t before_ns = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t now_ns = arrivals.NextNs();
    EXPECT_GE(now_ns, before_ns);
    gaps.push_back(static_cast<double>(now_ns - before_ns) * 1e-6);
    before_ns = now_ns;
  }
  return gaps;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Cv(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size())) / mean;
}

double ShareAbove(const std::vector<double>& values, double limit) {
  double above = 0;
  for (const double value : values) above += value > limit ? 1 : 0;
  return above / static_cast<double>(values.size());
}

TEST(GapArrivals, KeepTheRateWhateverTheSpread) {
  EXPECT_NEAR(Mean(Gaps(GapArrivals(1000, 1, 1, 7), 100'000)), 1, 0.015);
  EXPECT_NEAR(Mean(Gaps(GapArrivals(1000, 0.5, 1, 7), 100'000)), 1, 0.01);
  EXPECT_NEAR(Mean(Gaps(GapArrivals(1000, 4, 1, 7), 400'000)), 1, 0.04);
  EXPECT_NEAR(Mean(Gaps(GapArrivals(1000, 1, 10, 7), 100'000)), 1, 0.04);
}

TEST(GapArrivals, HaveTheSpreadThatIsAskedFor) {
  EXPECT_NEAR(Cv(Gaps(GapArrivals(1000, 1, 1, 3), 100'000)), 1, 0.02);
  EXPECT_NEAR(Cv(Gaps(GapArrivals(1000, 0.5, 1, 3), 100'000)), 0.5, 0.01);
  EXPECT_NEAR(Cv(Gaps(GapArrivals(1000, 4, 1, 3), 400'000)), 4, 0.15);
}

TEST(GapArrivals, HaveThePoissonProcessGaps) {
  EXPECT_NEAR(ShareAbove(Gaps(GapArrivals(1000, 1, 1, 3), 10'000), 1), std::exp(-1), 0.02);
}

// With a shape of 1/2 a gap is the square of a normal number, so that erfc tells its distribution.
TEST(GapArrivals, HaveTheGammaDistributionsGaps) {
  const std::vector<double> gaps = Gaps(GapArrivals(1000, std::sqrt(2), 1, 5), 50'000);
  for (const double limit : {0.1, 1.0, 3.0}) {
    EXPECT_NEAR(ShareAbove(gaps, limit), std::erfc(std::sqrt(limit / 2)), 0.01) << limit;
  }
}

TEST(GapArrivals, SendABurstAtOnce) {
  GapArrivals arrivals(1000, 1, 3, 1);
  const int64_t first_ns = arrivals.NextNs();
  EXPECT_EQ(arrivals.NextNs(), first_ns);
  EXPECT_EQ(arrivals.NextNs(), first_ns);
  EXPECT_GT(arrivals.NextNs(), first_ns);
}

TEST(GapArrivals, RepeatWithTheSeedAndDifferWithout) {
  for (const double cv : {1.0, 4.0}) {
    EXPECT_EQ(Gaps(GapArrivals(50, cv, 1, 11), 100), Gaps(GapArrivals(50, cv, 1, 11), 100));
    EXPECT_NE(Gaps(GapArrivals(50, cv, 1, 11), 100), Gaps(GapArrivals(50, cv, 1, 12), 100));
  }
}

}  // namespace
}  // namespace mpsd::traffic

#include "client/traffic/arrival_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "proto/base/clock.h"

namespace mpsd::traffic {
namespace {

using testing::ElementsAre;

// The times before `end_ns` of one of `count` threads.
std::vector<int64_t> TimesOf(const ArrivalPlan& plan, int64_t end_ns, uint32_t index = 0,
                             uint32_t count = 1, uint64_t seed = 1) {
  const auto arrivals = MakeArrivals(plan, index, count, seed);
  std::vector<int64_t> times;
  for (int64_t at_ns = arrivals->NextNs(); at_ns < end_ns; at_ns = arrivals->NextNs()) {
    times.push_back(at_ns);
  }
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  return times;
}

// How many of the times are in each bin, counted on over `bins`.
std::vector<int> Histogram(const std::vector<int64_t>& times, int64_t bin_ns, size_t bins) {
  std::vector<int> counts(bins);
  for (const int64_t at_ns : times) ++counts[static_cast<size_t>(at_ns / bin_ns) % bins];
  return counts;
}

ArrivalPlan OfTrace() {
  ArrivalPlan plan;
  plan.trace = Trace{.calls = {3, 0, 40, 1}, .bin_ns = 100 * kNsPerMs};
  plan.rate = plan.trace->CallsPerSecond();
  return plan;
}

ArrivalPlan OnOff(double rate, int64_t on_ns, int64_t off_ns) {
  ArrivalPlan plan;
  plan.rate = rate;
  plan.on_ns = on_ns;
  plan.off_ns = off_ns;
  return plan;
}

TEST(ArrivalPlan, WithoutARateIsNoOpenLoop) {
  EXPECT_FALSE(ArrivalPlan{}.IsOpen());
  EXPECT_TRUE(OfTrace().IsOpen());
}

TEST(ArrivalPlan, PausesAndKeepsTheMeanRate) {
  const ArrivalPlan plan = OnOff(200, kNsPerSecond, 3 * kNsPerSecond);
  const auto times = TimesOf(plan, 400 * kNsPerSecond);
  EXPECT_NEAR(static_cast<double>(times.size()), 80'000, 1'000);
  const auto by_second = Histogram(times, kNsPerSecond, 4);
  EXPECT_EQ(by_second[0], static_cast<int>(times.size()));
}

TEST(ArrivalPlan, ComesBetweenPausesAtItsOwnPace) {
  const ArrivalPlan plan = OnOff(500, 100 * kNsPerMs, 100 * kNsPerMs);
  const auto by_tenth = Histogram(TimesOf(plan, 400 * kNsPerSecond), 10 * kNsPerMs, 20);
  for (size_t tenth = 0; tenth < 10; ++tenth) EXPECT_NEAR(by_tenth[tenth], 20'000, 600);
}

TEST(ArrivalPlan, SendsATraceBinByBinAndBeginsAnew) {
  EXPECT_THAT(Histogram(TimesOf(OfTrace(), 400 * kNsPerMs), 100 * kNsPerMs, 4),
              ElementsAre(3, 0, 40, 1));
  EXPECT_THAT(Histogram(TimesOf(OfTrace(), 800 * kNsPerMs), 100 * kNsPerMs, 8),
              ElementsAre(3, 0, 40, 1, 3, 0, 40, 1));
}

TEST(ArrivalPlan, SpreadsATracesCallsOverTheirBin) {
  ArrivalPlan plan;
  plan.trace = Trace{.calls = {40'000}, .bin_ns = kNsPerSecond};
  plan.rate = 40'000;
  for (const int count : Histogram(TimesOf(plan, kNsPerSecond), kNsPerSecond / 4, 4)) {
    EXPECT_NEAR(count, 10'000, 300);
  }
}

TEST(ArrivalPlan, RepeatsWithTheSeedAndDiffersWithout) {
  const ArrivalPlan on_off = OnOff(100, kNsPerSecond, kNsPerSecond);
  for (const ArrivalPlan& plan : {OfTrace(), on_off}) {
    const auto times = TimesOf(plan, 4 * kNsPerSecond);
    EXPECT_EQ(TimesOf(plan, 4 * kNsPerSecond), times);
    EXPECT_NE(TimesOf(plan, 4 * kNsPerSecond, 0, 1, 2), times);
  }
}

TEST(ArrivalPlan, ThreadsTogetherSendWhatOneAloneWould) {
  ArrivalPlan swarms;
  swarms.rate = 1000;
  swarms.cv = 4;
  for (const ArrivalPlan& plan : {OfTrace(), swarms}) {
    std::vector<int64_t> all;
    for (uint32_t index = 0; index < 3; ++index) {
      const auto part = TimesOf(plan, 2 * kNsPerSecond, index, 3);
      EXPECT_GT(part.size(), 50u);
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, TimesOf(plan, 2 * kNsPerSecond));
  }
}

TEST(ArrivalPlan, NeverGoesBeyondTheFarthestTime) {
  const ArrivalPlan rare = OnOff(1e-12, 1, 3600 * kNsPerSecond);
  const auto arrivals = MakeArrivals(rare, 0, 1, 1);
  for (int i = 0; i < 1'000; ++i) EXPECT_LE(arrivals->NextNs(), kFarthestNs);
  EXPECT_EQ(arrivals->NextNs(), kFarthestNs);
}

}  // namespace
}  // namespace mpsd::traffic

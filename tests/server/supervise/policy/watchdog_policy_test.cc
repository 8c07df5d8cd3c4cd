#include "server/supervise/policy/watchdog_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(OwnTime, GoesWithTheClockWhileTheFrontEndLooks) {
  OwnTime time;
  for (int64_t tick = 1; tick <= 40; ++tick) time.Advance(kNsPerSecond + tick * kWatchdogTickNs);
  EXPECT_EQ(time.now_ns(), 39 * kWatchdogTickNs);
}

// A front end that was stopped for an hour, or whose host slept, has seen nobody be silent.
TEST(OwnTime, AnAbsenceCountsForTwoTicks) {
  OwnTime time;
  time.Advance(kNsPerSecond);
  time.Advance(kNsPerSecond + 3600 * kNsPerSecond);
  EXPECT_EQ(time.now_ns(), 2 * kWatchdogTickNs);
}

TEST(OwnTime, NeverGoesBack) {
  OwnTime time;
  time.Advance(10 * kNsPerSecond);
  time.Advance(9 * kNsPerSecond);
  EXPECT_EQ(time.now_ns(), 0);
}

TEST(LaneWatch, AnIdleLaneIsSilentWithoutHeartbeats) {
  LaneWatch watch(0);
  EXPECT_EQ(watch.SilentNs({0, 0, 1}, 1), 0) << "a first heartbeat";
  EXPECT_EQ(watch.SilentNs({0, 0, 1}, 11), 10);
  EXPECT_EQ(watch.SilentNs({0, 0, 2}, 21), 0);
}

// A worker that beats, and gives nothing back, hangs.
TEST(LaneWatch, ABusyLaneIsSilentWhateverItWrites) {
  LaneWatch watch(0);
  EXPECT_EQ(watch.SilentNs({1, 0, 1}, 10), 0) << "it has just got a batch";
  EXPECT_EQ(watch.SilentNs({1, 0, 2}, 20), 10);
  EXPECT_EQ(watch.SilentNs({2, 0, 3}, 30), 20) << "a second batch in its queue is no progress";
  EXPECT_EQ(watch.SilentNs({2, 1, 3}, 40), 0) << "one came back";
  EXPECT_EQ(watch.SilentNs({0, 3, 3}, 50), 0);
}

// It was idle for long, and then got a batch: that one has its whole budget.
TEST(LaneWatch, ABatchBeginsANewBudget) {
  LaneWatch watch(0);
  EXPECT_EQ(watch.SilentNs({0, 0, 0}, 100), 100);
  EXPECT_EQ(watch.SilentNs({1, 0, 0}, 110), 0);
  EXPECT_EQ(watch.SilentNs({1, 0, 0}, 115), 5);
}

TEST(RunBudget, IsWhatTheConfigSays) {
  StageHistogram execute;
  EXPECT_EQ(RunBudgetNs(2 * kNsPerSecond, execute), 2 * kNsPerSecond);
}

TEST(RunBudget, IsHalfAMinuteAtLeast) {
  StageHistogram execute;
  EXPECT_EQ(RunBudgetNs(0, execute), 30 * kNsPerSecond) << "nothing is known yet";
  for (int i = 0; i < 1000; ++i) execute.ObserveNs(kNsPerMs);
  EXPECT_EQ(RunBudgetNs(0, execute), 30 * kNsPerSecond);
}

TEST(RunBudget, IsTenTimesWhatNinetyNineOfAHundredTook) {
  StageHistogram execute;
  for (int i = 0; i < 19; ++i) execute.ObserveNs(4 * kNsPerSecond);
  EXPECT_EQ(RunBudgetNs(0, execute), 30 * kNsPerSecond) << "too few to say";
  execute.ObserveNs(4 * kNsPerSecond);
  EXPECT_EQ(RunBudgetNs(0, execute), 50 * kNsPerSecond) << "the bound of their bucket is 5 s";
  for (int i = 0; i < 2000; ++i) execute.ObserveNs(kNsPerMs);
  EXPECT_EQ(RunBudgetNs(0, execute), 30 * kNsPerSecond) << "twenty of two thousand are few";
}

}  // namespace
}  // namespace mpsd

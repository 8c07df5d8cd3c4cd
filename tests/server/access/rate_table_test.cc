#include "server/access/rate_table.h"

#include <gtest/gtest.h>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

constexpr int64_t kNow = 5000 * kNsPerSecond;  // since the host started
constexpr int64_t kTenth = kNsPerSecond / 10;

TEST(RateTable, WhoHasNoRateMayAskForAnything) {
  RateTable table;
  EXPECT_EQ(table.Take(1, 1000, kNow), 0);
  table.SetRates({{}, {}, {10, 10}});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(table.Take(1, 1000, kNow), 0);
  EXPECT_EQ(table.Take(63, 1000, kNow), 0) << "beyond the last";
}

TEST(RateTable, AsManyAsTheBurstAtOnceAndThenByTheRate) {
  RateTable table;
  table.SetRates({{}, {10, 3}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table.Take(1, 1, kNow), 0);
  EXPECT_EQ(table.Take(1, 1, kNow), kTenth);
  EXPECT_EQ(table.Take(1, 1, kNow + kTenth / 2), kTenth / 2) << "a refusal takes nothing";
  EXPECT_EQ(table.Take(1, 1, kNow + kTenth), 0);
  EXPECT_EQ(table.Take(1, 1, kNow + kTenth), kTenth);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table.Take(1, 1, kNow + kNsPerSecond), 0);
  EXPECT_EQ(table.Take(1, 1, kNow + kNsPerSecond), kTenth) << "no more than the burst is saved";
}

TEST(RateTable, ALargeRequestPassesAndIsPaidForAfterwards) {
  RateTable table;
  table.SetRates({{}, {10, 3}});
  EXPECT_EQ(table.Take(1, 23, kNow), 0);
  EXPECT_EQ(table.Take(1, 1, kNow), 21 * kTenth);
  EXPECT_EQ(table.Take(1, 1, kNow + 21 * kTenth), 0);
}

TEST(RateTable, TenantsHaveBucketsOfTheirOwn) {
  RateTable table;
  table.SetRates({{}, {10, 1}, {10, 1}});
  EXPECT_EQ(table.Take(1, 1, kNow), 0);
  EXPECT_GT(table.Take(1, 1, kNow), 0);
  EXPECT_EQ(table.Take(2, 1, kNow), 0);
}

TEST(RateTable, AClockThatStandsStillGivesNothing) {
  RateTable table;
  table.SetRates({{}, {10, 1}});
  EXPECT_EQ(table.Take(1, 1, kNow), 0);
  EXPECT_EQ(table.Take(1, 1, kNow - kNsPerSecond), kTenth);
  EXPECT_EQ(table.Take(1, 1, kNow), kTenth);
}

TEST(RateTable, OtherRatesFillTheBuckets) {
  RateTable table;
  table.SetRates({{}, {10, 1}});
  EXPECT_EQ(table.Take(1, 1, kNow), 0);
  table.SetRates({{}, {20, 1}});
  EXPECT_EQ(table.Take(1, 1, kNow), 0);
  EXPECT_EQ(table.Take(1, 1, kNow), kTenth / 2);
  table.SetRates({});
  EXPECT_EQ(table.Take(1, 1, kNow), 0);
}

}  // namespace
}  // namespace mpsd

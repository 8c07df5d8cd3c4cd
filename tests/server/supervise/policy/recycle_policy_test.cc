#include "server/supervise/policy/recycle_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(RecycleReason, IsNoneWithoutLimits) {
  EXPECT_EQ(RecycleReason({}, {1ULL << 50, 1ULL << 50, 1LL << 60}, 0.9), nullptr);
}

TEST(RecycleReason, AnswersThatDoNotFitComeFirst) {
  EXPECT_STREQ(RecycleReason({0, 1000, 0}, {0, 1000, 0, true}, 0), "answers");
}

TEST(RecycleReason, IsTheLimitThatIsReached) {
  const RecycleLimits limits = {100, 1000, 10'000};
  EXPECT_EQ(RecycleReason(limits, {99, 999, 9'999}, 0), nullptr);
  EXPECT_STREQ(RecycleReason(limits, {0, 1000, 0}, 0), "requests");
  EXPECT_STREQ(RecycleReason(limits, {0, 0, 10'000}, 0), "age");
}

TEST(RecycleReason, IsMemoryOnlyAfterGoodService) {
  const RecycleLimits limits = {100, 0, 0};
  EXPECT_EQ(RecycleReason(limits, {100, 0, kGoodServiceNs - 1}, 0), nullptr);
  EXPECT_STREQ(RecycleReason(limits, {100, 0, kGoodServiceNs}, 0), "resident_memory");
  EXPECT_EQ(RecycleReason(limits, {99, 0, kGoodServiceNs}, 0.9999), nullptr)
      << "memory is no matter of chance";
}

TEST(RecycleReason, IsTheHostsPressureOfAWorkerThatRelievesIt) {
  WorkerUse use;
  use.relieves = true;
  use.age_ns = kGoodServiceNs - 1;
  EXPECT_EQ(RecycleReason({}, use, 0), nullptr);
  use.age_ns = kGoodServiceNs;
  EXPECT_STREQ(RecycleReason({}, use, 0), "memory_pressure");
}

TEST(RecycleReason, JitterTakesUpToATenthOffWhatAllReachTogether) {
  const RecycleLimits limits = {100, 1000, 10'000};
  EXPECT_STREQ(RecycleReason(limits, {0, 951, 0}, 0.5), "requests");
  EXPECT_EQ(RecycleReason(limits, {0, 949, 0}, 0.5), nullptr);
  EXPECT_STREQ(RecycleReason(limits, {0, 0, 9'501}, 0.5), "age");
  EXPECT_EQ(RecycleReason(limits, {0, 0, 8'999}, 0.9999), nullptr);
}

}  // namespace
}  // namespace mpsd

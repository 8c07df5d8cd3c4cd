#include "worker/consume/upkeep_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kKeepWarmNs = 30 * kNsPerSecond;
constexpr uint64_t kMuch = UpkeepPolicy::kWatermarkBytes;
constexpr int64_t kQuiet = UpkeepPolicy::kQuietNs;
constexpr int64_t kPause = UpkeepPolicy::kFirstPauseNs;

UpkeepPolicy::Sight Idle(MemoryPressure pressure, uint64_t unused_bytes) {
  return {pressure, /*after_batch=*/false, unused_bytes};
}

UpkeepPolicy::Sight AfterBatch(MemoryPressure pressure, uint64_t unused_bytes) {
  return {pressure, /*after_batch=*/true, unused_bytes};
}

// ---- keep warm ----

TEST(UpkeepPolicy, KeepsNothingWarmUnlessItIsTold) {
  const UpkeepPolicy policy(0, 0);
  EXPECT_FALSE(policy.IsRunDue(INT64_MAX));
}

TEST(UpkeepPolicy, ARunIsDueAfterTheTimeWithoutOne) {
  UpkeepPolicy policy(kKeepWarmNs, 100);
  EXPECT_FALSE(policy.IsRunDue(100 + kKeepWarmNs - 1));
  EXPECT_TRUE(policy.IsRunDue(100 + kKeepWarmNs));
  policy.Ran(200 + kKeepWarmNs);
  EXPECT_FALSE(policy.IsRunDue(199 + 2 * kKeepWarmNs));
  EXPECT_TRUE(policy.IsRunDue(200 + 2 * kKeepWarmNs));
}

TEST(UpkeepPolicy, ABatchKeepsItWarmToo) {
  UpkeepPolicy policy(kKeepWarmNs, 0);
  policy.BatchEnded(kKeepWarmNs - 1);
  EXPECT_FALSE(policy.IsRunDue(2 * kKeepWarmNs - 2));
  EXPECT_TRUE(policy.IsRunDue(2 * kKeepWarmNs - 1));
}

TEST(UpkeepPolicy, NoRunIsDueOnceTheyWereStopped) {
  UpkeepPolicy policy(kKeepWarmNs, 0);
  policy.StopRuns();
  EXPECT_FALSE(policy.IsRunDue(INT64_MAX));
}

// ---- trim ----

TEST(UpkeepPolicy, WithoutPressureItTrimsMuchAfterAQuietTime) {
  UpkeepPolicy policy(0, 0);
  EXPECT_FALSE(policy.IsTrimDue(Idle(MemoryPressure::kNone, kMuch), kQuiet - 1));
  EXPECT_FALSE(policy.IsTrimDue(Idle(MemoryPressure::kNone, kMuch - 1), kQuiet));
  EXPECT_TRUE(policy.IsTrimDue(Idle(MemoryPressure::kNone, kMuch), kQuiet));
  policy.BatchEnded(kQuiet);
  EXPECT_FALSE(policy.IsTrimDue(Idle(MemoryPressure::kNone, kMuch), 2 * kQuiet - 1));
  EXPECT_TRUE(policy.IsTrimDue(Idle(MemoryPressure::kNone, kMuch), 2 * kQuiet));
}

TEST(UpkeepPolicy, ARunThatKeepsWarmIsNoBatch) {
  UpkeepPolicy policy(kNsPerSecond, 0);
  policy.Ran(kQuiet - 1);
  EXPECT_TRUE(policy.IsTrimDue(Idle(MemoryPressure::kNone, kMuch), kQuiet));
}

TEST(UpkeepPolicy, AWarningTrimsAnythingOfALaneThatIsIdle) {
  UpkeepPolicy policy(0, 0);
  EXPECT_FALSE(policy.IsTrimDue(AfterBatch(MemoryPressure::kWarn, kMuch), 0));
  EXPECT_FALSE(policy.IsTrimDue(Idle(MemoryPressure::kWarn, 0), 0));
  EXPECT_TRUE(policy.IsTrimDue(Idle(MemoryPressure::kWarn, 1), 0));
}

TEST(UpkeepPolicy, ACriticalPressureTrimsRightAfterABatch) {
  UpkeepPolicy policy(0, 0);
  EXPECT_FALSE(policy.IsTrimDue(AfterBatch(MemoryPressure::kCritical, 0), 0));
  EXPECT_TRUE(policy.IsTrimDue(AfterBatch(MemoryPressure::kCritical, 1), 0));
  EXPECT_TRUE(policy.IsTrimDue(Idle(MemoryPressure::kCritical, 1), 0));
}

TEST(UpkeepPolicy, PausesAfterATrimAndLongerAfterOneThatReturnedLittle) {
  UpkeepPolicy policy(0, 0);
  const UpkeepPolicy::Sight sight = Idle(MemoryPressure::kWarn, kMuch);
  int64_t now_ns = 0;
  EXPECT_TRUE(policy.IsTrimDue(sight, now_ns));
  policy.Trimmed(UpkeepPolicy::kLittleBytes, now_ns);
  EXPECT_FALSE(policy.IsTrimDue(sight, now_ns + kPause - 1));
  EXPECT_TRUE(policy.IsTrimDue(sight, now_ns += kPause));
  policy.Trimmed(UpkeepPolicy::kLittleBytes - 1, now_ns);
  EXPECT_TRUE(policy.IsTrimDue(sight, now_ns += kPause));
  policy.Trimmed(0, now_ns);
  EXPECT_FALSE(policy.IsTrimDue(sight, now_ns + 2 * kPause - 1));
  EXPECT_TRUE(policy.IsTrimDue(sight, now_ns += 2 * kPause));
  for (int i = 0; i < 10; ++i) policy.Trimmed(0, now_ns);
  EXPECT_FALSE(policy.IsTrimDue(sight, now_ns + UpkeepPolicy::kLastPauseNs - 1));
  EXPECT_TRUE(policy.IsTrimDue(sight, now_ns + UpkeepPolicy::kLastPauseNs));
}

TEST(UpkeepPolicy, ATrimThatReturnedMuchIsFollowedByTheFirstPause) {
  UpkeepPolicy policy(0, 0);
  const UpkeepPolicy::Sight sight = Idle(MemoryPressure::kWarn, kMuch);
  EXPECT_TRUE(policy.IsTrimDue(sight, 0));
  for (int i = 0; i < 10; ++i) policy.Trimmed(0, 0);
  const int64_t now_ns = UpkeepPolicy::kLastPauseNs;
  EXPECT_TRUE(policy.IsTrimDue(sight, now_ns));
  policy.Trimmed(UpkeepPolicy::kLittleBytes, now_ns);
  EXPECT_FALSE(policy.IsTrimDue(sight, now_ns + kPause - 1));
  EXPECT_TRUE(policy.IsTrimDue(sight, now_ns + kPause));
}

TEST(UpkeepPolicy, APressureThatRisesEndsThePause) {
  UpkeepPolicy policy(0, 0);
  EXPECT_TRUE(policy.IsTrimDue(Idle(MemoryPressure::kWarn, kMuch), 0));
  for (int i = 0; i < 10; ++i) policy.Trimmed(0, 0);
  EXPECT_FALSE(policy.IsTrimDue(Idle(MemoryPressure::kWarn, kMuch), 1));
  EXPECT_TRUE(policy.IsTrimDue(Idle(MemoryPressure::kCritical, kMuch), 2));
  policy.Trimmed(kMuch, 2);
  EXPECT_FALSE(policy.IsTrimDue(Idle(MemoryPressure::kCritical, kMuch), 3));
  EXPECT_FALSE(policy.IsTrimDue(Idle(MemoryPressure::kNone, kMuch), 4));
  EXPECT_TRUE(policy.IsTrimDue(Idle(MemoryPressure::kWarn, kMuch), 5)) << "it rose again";
}

}  // namespace
}  // namespace mpsd

#include "server/supervise/policy/pressure_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kPatience = PressureRelief::kPatienceNs;
constexpr uint64_t kLeast = PressureRelief::kLeastGrowthBytes;

TEST(PressureRelief, IsDueOnceMemoryWasCriticalForSoLong) {
  PressureRelief relief;
  EXPECT_FALSE(relief.IsDue(INT64_MAX)) << "nothing was told";
  relief.Note(MemoryPressure::kWarn, 0);
  EXPECT_FALSE(relief.IsDue(kPatience));
  relief.Note(MemoryPressure::kCritical, 100);
  relief.Note(MemoryPressure::kCritical, 200);
  EXPECT_FALSE(relief.IsDue(100 + kPatience - 1));
  EXPECT_TRUE(relief.IsDue(100 + kPatience));
  relief.Note(MemoryPressure::kWarn, 100 + kPatience);
  EXPECT_FALSE(relief.IsDue(100 + kPatience));
  relief.Note(MemoryPressure::kCritical, 101 + kPatience);
  EXPECT_FALSE(relief.IsDue(102 + kPatience)) << "it began anew";
}

TEST(PressureRelief, PausesAfterEachWorker) {
  PressureRelief relief;
  relief.Note(MemoryPressure::kCritical, 0);
  relief.Tried(kPatience);
  EXPECT_FALSE(relief.IsDue(kPatience + PressureRelief::kPauseNs - 1));
  EXPECT_TRUE(relief.IsDue(kPatience + PressureRelief::kPauseNs));
}

TEST(PressureRelief, AWorkerHasGrownByHalfAndByTheLeastThatCounts) {
  EXPECT_FALSE(PressureRelief::HasGrown(kLeast, 2 * kLeast - 1));
  EXPECT_TRUE(PressureRelief::HasGrown(kLeast, 2 * kLeast));
  EXPECT_FALSE(PressureRelief::HasGrown(4 * kLeast, 6 * kLeast - 1));
  EXPECT_TRUE(PressureRelief::HasGrown(4 * kLeast, 6 * kLeast));
}

TEST(PressureRelief, AWorkerOfUnknownSizeHasNotGrown) {
  EXPECT_FALSE(PressureRelief::HasGrown(0, 1ULL << 40));
  EXPECT_FALSE(PressureRelief::HasGrown(kLeast, 0));
}

}  // namespace
}  // namespace mpsd

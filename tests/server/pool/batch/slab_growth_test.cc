#include "server/pool/batch/slab_growth.h"

#include <gtest/gtest.h>

#include "proto/base/limits.h"
#include "server/pool/batch/slab_sizing.h"

namespace mpsd {
namespace {

constexpr int64_t kGrowthNow = 1000;
constexpr uint64_t kHave = 8 << 20;
constexpr uint64_t kMissed = 64 << 10;
constexpr SlabGrowth::Memory kSome = {1, kHave, 4 * kHave};

TEST(SlabGrowth, AsksOnceForTheLargestSlabThatFoundNoRoom) {
  SlabGrowth growth;
  EXPECT_FALSE(growth.expected());
  EXPECT_EQ(growth.Take(kHave), std::nullopt);
  EXPECT_TRUE(growth.Miss(kMissed, kSome, kGrowthNow)) << "the supervisor is woken";
  EXPECT_FALSE(growth.Miss(2 * kHave, kSome, kGrowthNow)) << "and not again";
  EXPECT_FALSE(growth.Miss(kMissed, kSome, kGrowthNow));
  EXPECT_TRUE(growth.expected());
  const std::optional<uint64_t> bytes = growth.Take(kHave);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_GT(*bytes, 2 * kHave);
  EXPECT_EQ(growth.Take(kHave), std::nullopt) << "one at a time";
  EXPECT_TRUE(growth.expected()) << "it is on its way";
  growth.Granted();
  EXPECT_FALSE(growth.expected());
}

TEST(SlabGrowth, AMissMeanwhileWaitsForItsTurn) {
  SlabGrowth growth;
  growth.Miss(kMissed, kSome, kGrowthNow);
  ASSERT_TRUE(growth.Take(kHave).has_value());
  EXPECT_FALSE(growth.Miss(kMissed, kSome, kGrowthNow)) << "the supervisor is at work already";
  EXPECT_EQ(growth.Take(kHave), std::nullopt);
  growth.Granted();
  EXPECT_EQ(growth.Take(kHave), std::nullopt) << "those that wait try the new segment first";
}

TEST(SlabGrowth, ARefusalIsFollowedByAPause) {
  SlabGrowth growth;
  growth.Miss(kMissed, kSome, kGrowthNow);
  ASSERT_TRUE(growth.Take(kHave).has_value());
  growth.Refused(kGrowthNow);
  EXPECT_FALSE(growth.expected());
  EXPECT_FALSE(growth.Miss(kMissed, kSome, kGrowthNow + SlabGrowth::kPauseNs - 1));
  EXPECT_FALSE(growth.expected());
  EXPECT_TRUE(growth.Miss(kMissed, kSome, kGrowthNow + SlabGrowth::kPauseNs));
  EXPECT_TRUE(growth.expected());
}

TEST(SlabGrowth, NothingBeyondTheBytesThatAPoolMayHave) {
  SlabGrowth growth;
  const SlabGrowth::Memory full = {2, kHave, kHave + kMissed - 1};
  EXPECT_FALSE(growth.Miss(kMissed, full, kGrowthNow));
  EXPECT_FALSE(growth.expected());
  EXPECT_FALSE(growth.Miss(kMissed, kSome, kGrowthNow)) << "not looked at again for a while";
  const SlabGrowth::Memory enough = {2, kHave, kHave + kMissed};
  EXPECT_TRUE(growth.Miss(kMissed, enough, kGrowthNow + SlabGrowth::kPauseNs));
}

TEST(SlabGrowth, NothingBeyondTheNumberOfSegments) {
  SlabGrowth growth;
  EXPECT_FALSE(growth.Miss(kMissed, {kMaxSlabSegments, kHave, 4 * kHave}, kGrowthNow));
  EXPECT_TRUE(growth.Miss(kMissed, {kMaxSlabSegments - 1, kHave, 4 * kHave},
                          kGrowthNow + SlabGrowth::kPauseNs));
}

}  // namespace
}  // namespace mpsd

#include "server/trim_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr uint64_t kLeast = 10 << 20;
constexpr uint64_t kHigh = kLeast + TrimPolicy::kWatermarkBytes;
constexpr int64_t kQuiet = TrimPolicy::kQuietNs;
constexpr int64_t kPause = TrimPolicy::kFirstPauseNs;

// A daemon that began small, and has been quiet since time 0.
class TrimPolicyTest : public testing::Test {
 protected:
  TrimPolicyTest() { EXPECT_FALSE(policy_.IsDue(kLeast, 0, 0)); }

  TrimPolicy policy_{kLeast};
};

TEST_F(TrimPolicyTest, IsDueAtTheWatermarkOnceItIsQuiet) {
  EXPECT_FALSE(policy_.IsDue(kHigh, 0, kQuiet - 1));
  EXPECT_FALSE(policy_.IsDue(kHigh - 1, 0, kQuiet));
  EXPECT_TRUE(policy_.IsDue(kHigh, 0, kQuiet));
}

TEST_F(TrimPolicyTest, ABurstBeforeTheFirstLookCounts) {
  TrimPolicy policy(kLeast);
  EXPECT_FALSE(policy.IsDue(kHigh, 0, 0));
  EXPECT_TRUE(policy.IsDue(kHigh, 0, kQuiet));
}

TEST_F(TrimPolicyTest, ARequestInsideEndsTheQuiet) {
  EXPECT_FALSE(policy_.IsDue(kHigh, 1, kQuiet));
  EXPECT_FALSE(policy_.IsDue(kHigh, 0, kQuiet + 1));
  EXPECT_FALSE(policy_.IsDue(kHigh, 0, 2 * kQuiet));
  EXPECT_TRUE(policy_.IsDue(kHigh, 0, 2 * kQuiet + 1));
}

TEST_F(TrimPolicyTest, TheWatermarkIsAboveTheLeastThatWasSeen) {
  EXPECT_FALSE(policy_.IsDue(kLeast / 2, 0, kQuiet));
  EXPECT_TRUE(policy_.IsDue(kHigh - kLeast / 2, 0, kQuiet + 1));
}

TEST_F(TrimPolicyTest, RestsAfterATrim) {
  policy_.Trimmed(TrimPolicy::kWatermarkBytes, kQuiet);
  EXPECT_FALSE(policy_.IsDue(kHigh, 0, kQuiet + kPause - 1));
  EXPECT_TRUE(policy_.IsDue(kHigh, 0, kQuiet + kPause));
}

TEST_F(TrimPolicyTest, RestsLongerEachTimeThatLittleCameBackUpToABound) {
  policy_.Trimmed(TrimPolicy::kLittleBytes - 1, 0);
  EXPECT_FALSE(policy_.IsDue(kHigh, 0, 2 * kPause - 1));
  EXPECT_TRUE(policy_.IsDue(kHigh, 0, 2 * kPause));
  for (int i = 0; i < 100; ++i) policy_.Trimmed(0, 0);
  EXPECT_FALSE(policy_.IsDue(kHigh, 0, TrimPolicy::kLastPauseNs - 1));
  EXPECT_TRUE(policy_.IsDue(kHigh, 0, TrimPolicy::kLastPauseNs));
  policy_.Trimmed(TrimPolicy::kLittleBytes, 0);
  EXPECT_TRUE(policy_.IsDue(kHigh, 0, kPause)) << "a trim that was worth it ends the long rests";
}

}  // namespace
}  // namespace mpsd

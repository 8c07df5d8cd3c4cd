#include "text/tokenizer/truncation_policy.h"

#include <gtest/gtest.h>

namespace mpsd::text {
namespace {

void ExpectKept(size_t first, size_t second, size_t room, size_t kept_first, size_t kept_second) {
  const KeptCounts kept = KeepLongestFirst(first, second, room);
  EXPECT_EQ(kept.first, kept_first);
  EXPECT_EQ(kept.second, kept_second);
}

TEST(TruncationPolicy, CutsNothingThatFits) { ExpectKept(3, 4, 7, 3, 4); }

TEST(TruncationPolicy, CutsTheLongerTextAlone) {
  ExpectKept(3, 20, 10, 3, 7);
  ExpectKept(20, 3, 10, 7, 3);
}

TEST(TruncationPolicy, SharesTheRoomBetweenTwoLongTexts) {
  ExpectKept(20, 30, 11, 5, 6);
  ExpectKept(30, 20, 11, 6, 5);
}

TEST(TruncationPolicy, CutsOneTextToTheRoom) {
  ExpectKept(20, 0, 11, 11, 0);
  ExpectKept(20, 0, 0, 0, 0);
}

}  // namespace
}  // namespace mpsd::text

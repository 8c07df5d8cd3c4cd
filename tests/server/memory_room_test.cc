#include "server/memory_room.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(LimitsWithin, ALargeHostLeavesThemAsTheyAre) {
  const LimitsConfig given;
  const LimitsConfig limits = LimitsWithin(given, 64'000 * kMiB);
  EXPECT_EQ(limits.buffered_bytes, given.buffered_bytes);
  EXPECT_EQ(limits.unread_copy_bytes, given.unread_copy_bytes);
  EXPECT_EQ(limits.message_bytes, given.message_bytes);
}

TEST(LimitsWithin, OnASmallOneClientsGetHalfOfWhatIsLeft) {
  for (const uint64_t left : {64 * kMiB, 320 * kMiB, 1000 * kMiB}) {
    const LimitsConfig limits = LimitsWithin(LimitsConfig(), left);
    EXPECT_LE(ClientsMemoryBytes(limits), left / 2) << left;
    EXPECT_LE(limits.message_bytes, limits.buffered_bytes) << "one must fit";
  }
  EXPECT_EQ(LimitsWithin(LimitsConfig(), 320 * kMiB).buffered_bytes, 40 * kMiB);
  EXPECT_EQ(LimitsWithin(LimitsConfig(), 320 * kMiB).message_bytes, 40 * kMiB);
  EXPECT_EQ(LimitsWithin(LimitsConfig(), 1000 * kMiB).message_bytes, 64 * kMiB);
}

TEST(LimitsWithin, TheyAreNeverNothingAndNeverMoreThanGiven) {
  EXPECT_EQ(LimitsWithin(LimitsConfig(), 0).buffered_bytes, kLeastPartBytes);
  LimitsConfig given;
  given.message_bytes = given.buffered_bytes = given.unread_copy_bytes = kMiB;
  const LimitsConfig limits = LimitsWithin(given, 0);
  EXPECT_EQ(limits.buffered_bytes, kMiB);
  EXPECT_EQ(limits.unread_copy_bytes, kMiB);
  EXPECT_EQ(limits.message_bytes, kMiB);
}

}  // namespace
}  // namespace mpsd

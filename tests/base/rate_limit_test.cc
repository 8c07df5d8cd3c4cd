#include "proto/base/rate_limit.h"

#include "gtest/gtest.h"

namespace mpsd {
namespace {

int TakeAll(RateLimit* limit, int64_t now_ns) {
  int taken = 0;
  while (limit->Take(now_ns)) ++taken;
  return taken;
}

TEST(RateLimit, StartsFull) {
  RateLimit limit(200, 5);
  EXPECT_EQ(TakeAll(&limit, 5), 200);
}

TEST(RateLimit, FillsWithTime) {
  RateLimit limit(200, 0);
  TakeAll(&limit, 0);
  EXPECT_FALSE(limit.Take(4'999'999));
  EXPECT_TRUE(limit.Take(5'000'000));
  EXPECT_FALSE(limit.Take(5'000'000));
  EXPECT_EQ(TakeAll(&limit, 505'000'000), 100);
}

TEST(RateLimit, NeverSavesMoreThanASecond) {
  RateLimit limit(200, 0);
  TakeAll(&limit, 0);
  EXPECT_EQ(TakeAll(&limit, 3600 * kNsPerSecond), 200);
}

TEST(RateLimit, MayStartWithLess) {
  RateLimit limit(1000, 0, kNsPerSecond / 4);
  for (int i = 0; i < 250; ++i) EXPECT_TRUE(limit.Take(0)) << i;
  EXPECT_FALSE(limit.Take(0));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limit.Take(kNsPerSecond)) << i;
  EXPECT_FALSE(limit.Take(kNsPerSecond));
}

}  // namespace
}  // namespace mpsd

#include "proto/base/backoff_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(BackoffNs, TheFirstRestartIsAtOnce) {
  EXPECT_EQ(BackoffNs(0, 0.5), 0);
  EXPECT_EQ(BackoffNs(1, 0), 0);
}

TEST(BackoffNs, DoublesFromAHundredMillisecondsToThirtySeconds) {
  int64_t expected_ns = 100 * kNsPerMs;
  for (uint32_t failures = 2; failures <= 10; ++failures, expected_ns *= 2) {
    EXPECT_EQ(BackoffNs(failures, 0), expected_ns) << failures;
  }
  EXPECT_EQ(BackoffNs(11, 0), 30 * kNsPerSecond);
  EXPECT_EQ(BackoffNs(100, 0), 30 * kNsPerSecond);
  EXPECT_EQ(BackoffNs(0xffff'ffff, 0), 30 * kNsPerSecond);
}

TEST(BackoffNs, JitterTakesUpToAQuarter) {
  EXPECT_EQ(BackoffNs(2, 0.5), 87'500'000);
  EXPECT_GT(BackoffNs(2, 0.999), 75 * kNsPerMs);
  EXPECT_GE(BackoffNs(50, 0.999), 30 * kNsPerSecond * 3 / 4);
}

}  // namespace
}  // namespace mpsd

#include "server/door/route/request_deadline.h"

#include <gtest/gtest.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

constexpr int64_t kNowNs = 1000;

TEST(RequestDeadline, WithoutTheHeaderItIsTheDefault) {
  EXPECT_EQ(RequestDeadline("", kNowNs, 5)->at_ns, kNowNs + 5);
  EXPECT_EQ(RequestDeadline("", kNowNs, 5)->patience_ns, 5);
  EXPECT_EQ(RequestDeadline("", kNowNs, 0)->at_ns, kNoDeadlineNs);
}

TEST(RequestDeadline, TheHeaderCountsInSeconds) {
  EXPECT_EQ(RequestDeadline("2", kNowNs, 5)->at_ns, kNowNs + 2 * kNsPerSecond);
  EXPECT_EQ(RequestDeadline("0.25", kNowNs, 5)->at_ns, kNowNs + kNsPerSecond / 4);
  EXPECT_EQ(RequestDeadline("0", kNowNs, 5)->at_ns, kNowNs);
  EXPECT_EQ(RequestDeadline("2", kNowNs, 5)->patience_ns, 0);
}

TEST(RequestDeadline, MoreThanTheMostIsTheMost) {
  EXPECT_EQ(RequestDeadline("1e300", kNowNs, 5)->at_ns, kNowNs + kMaxTimeoutNs);
}

TEST(RequestDeadline, WhatIsNoTimeIsRefused) {
  for (const char* text : {"-1", "1s", "soon", "nan", "inf", "1,5"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(RequestDeadline(text, kNowNs, 5).status())) << text;
  }
}

}  // namespace
}  // namespace mpsd

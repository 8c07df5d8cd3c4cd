#include "proto/base/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace mpsd {
namespace {

int64_t Now(clockid_t clock) {
  timespec now{};
  EXPECT_EQ(clock_gettime(clock, &now), 0);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

// The clock that does not count the host's sleep: CLOCK_MONOTONIC of Linux, which macOS calls
// CLOCK_UPTIME_RAW. A clock that ran on would be ahead of it by all that the host has slept.
TEST(Clock, CountsTheTimeThatTheHostIsAwake) {
#ifdef CLOCK_UPTIME_RAW
  const clockid_t awake = CLOCK_UPTIME_RAW;
#else
  const clockid_t awake = CLOCK_MONOTONIC;
#endif
  const int64_t before_ns = Now(awake);
  const int64_t now_ns = Clock::Real()->NowNs();
  EXPECT_GE(now_ns, before_ns);
  EXPECT_LE(now_ns, Now(awake));
}

}  // namespace
}  // namespace mpsd

#include "server/wire/call_deadline.h"

#include <gtest/gtest.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

constexpr int64_t kNow = 1'000 * kNsPerSecond;
constexpr gpr_clock_type kClocks[] = {GPR_CLOCK_MONOTONIC, GPR_CLOCK_REALTIME};

// What becomes of a deadline so many seconds from now.
int64_t DeadlineIn(int64_t seconds, gpr_clock_type clock) {
  const gpr_timespec deadline =
      gpr_time_add(gpr_now(clock), gpr_time_from_seconds(seconds, GPR_TIMESPAN));
  const CallDeadline told = MonotonicDeadline(deadline, kNow, kDefaultTimeoutNs);
  EXPECT_EQ(told.patience_ns, 0) << "the client's own";
  return told.at_ns;
}

TEST(CallDeadline, IsTheClients) {
  for (const gpr_clock_type clock : kClocks) {
    EXPECT_LT(DeadlineIn(200, clock), kNow + 201 * kNsPerSecond) << clock;
    EXPECT_GT(DeadlineIn(200, clock), kNow + kDefaultTimeoutNs) << clock;
  }
}

TEST(CallDeadline, IsTheDefaultWhereThereIsNone) {
  for (const gpr_clock_type clock : kClocks) {
    const CallDeadline told = MonotonicDeadline(gpr_inf_future(clock), kNow, 7 * kNsPerSecond);
    EXPECT_EQ(told.at_ns, kNow + 7 * kNsPerSecond) << clock;
    EXPECT_EQ(told.patience_ns, 7 * kNsPerSecond) << clock;
  }
}

TEST(CallDeadline, IsNoneWhereThereIsNoDefaultEither) {
  for (const gpr_clock_type clock : kClocks) {
    const CallDeadline told = MonotonicDeadline(gpr_inf_future(clock), kNow, 0);
    EXPECT_EQ(told.at_ns, kNoDeadlineNs) << clock;
    EXPECT_EQ(told.patience_ns, 0) << clock;
  }
}

TEST(CallDeadline, IsNeverBeyondTheCap) {
  constexpr int64_t kCapSeconds = kMaxTimeoutNs / kNsPerSecond;
  for (const gpr_clock_type clock : kClocks) {
    for (const int64_t seconds : {kCapSeconds, kCapSeconds + 60, int64_t{1} << 40}) {
      EXPECT_LE(DeadlineIn(seconds, clock), kNow + kMaxTimeoutNs) << clock << " " << seconds;
    }
    EXPECT_EQ(DeadlineIn(kCapSeconds + 60, clock), kNow + kMaxTimeoutNs) << clock;
    const gpr_timespec just_beyond =
        gpr_time_add(gpr_now(clock), gpr_time_from_millis(kCapSeconds * 1000 + 999, GPR_TIMESPAN));
    EXPECT_LE(MonotonicDeadline(just_beyond, kNow, kDefaultTimeoutNs).at_ns, kNow + kMaxTimeoutNs)
        << clock;
  }
}

TEST(CallDeadline, IsAsEarlyAsTheClientsBeforeItWasRoundedUp) {
  const auto told_in_us = [](int64_t left_us) {
    const gpr_timespec deadline =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_micros(left_us, GPR_TIMESPAN));
    return MonotonicDeadline(deadline, kNow, kDefaultTimeoutNs).at_ns - kNow;
  };
  EXPECT_LE(told_in_us(6'000), 5'000'000);
  EXPECT_LE(told_in_us(50'000'000), 49'999'000'000);
  EXPECT_GT(told_in_us(50'000'000), 45'000'000'000) << "a millisecond, not a share";
  EXPECT_LE(told_in_us(2'000), 1'500'000);
}

TEST(CallDeadline, OneThatHasPassedLiesInThePast) {
  EXPECT_LE(DeadlineIn(-5, GPR_CLOCK_MONOTONIC), kNow - 5 * kNsPerSecond);
}

TEST(CallDeadline, PassesWhenItsTimeHasCome) {
  for (const gpr_clock_type clock : {GPR_CLOCK_MONOTONIC, GPR_CLOCK_REALTIME}) {
    const gpr_timespec span = gpr_time_from_seconds(100, GPR_TIMESPAN);
    EXPECT_TRUE(HasPassed(gpr_time_sub(gpr_now(clock), span)));
    EXPECT_FALSE(HasPassed(gpr_time_add(gpr_now(clock), span)));
    EXPECT_FALSE(HasPassed(gpr_inf_future(clock))) << "the client gave none";
  }
}

}  // namespace
}  // namespace mpsd

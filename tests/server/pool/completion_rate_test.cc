#include "server/pool/completion_rate.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kWindow = CompletionRate::kWindowNs;
constexpr int64_t kRateStart = 10 * kWindow;

// One that has answered 1 request a millisecond in a first, long window.
CompletionRate Steady() {
  CompletionRate rate;
  rate.Measure(0);
  rate.Count(kRateStart / kNsPerMs);
  rate.Measure(kRateStart);
  return rate;
}

TEST(CompletionRate, IsUnknownBeforeTheFirstAnswer) {
  CompletionRate rate;
  EXPECT_EQ(rate.RetryDelayNs(100), CompletionRate::kUnknownRetryNs);
  rate.Measure(kRateStart);
  EXPECT_EQ(rate.RetryDelayNs(100), CompletionRate::kUnknownRetryNs) << "none was answered";
}

TEST(CompletionRate, AQuarterOfTheQueueShouldHaveDrained) {
  const CompletionRate rate = Steady();
  EXPECT_NEAR(static_cast<double>(rate.RetryDelayNs(400)), 100.0 * kNsPerMs, kNsPerMs);
  EXPECT_NEAR(static_cast<double>(rate.RetryDelayNs(0)), 1.0 * kNsPerMs, kNsPerMs / 10)
      << "one request at least";
}

TEST(CompletionRate, TheDelayIsBounded) {
  CompletionRate fast;
  fast.Measure(0);
  fast.Count(1'000'000);
  fast.Measure(kWindow);
  EXPECT_EQ(fast.RetryDelayNs(4), CompletionRate::kMinRetryNs);
  CompletionRate slow;
  slow.Measure(0);
  slow.Count(1);
  slow.Measure(100 * kNsPerSecond);
  EXPECT_EQ(slow.RetryDelayNs(4000), CompletionRate::kMaxRetryNs);
}

TEST(CompletionRate, TheFirstWindowBeginsWithTheFirstMeasure) {
  constexpr int64_t kDay = 86400 * kNsPerSecond;
  CompletionRate rate;
  rate.Measure(kDay);
  rate.Count(100);
  rate.Measure(kDay + kWindow);
  EXPECT_NEAR(static_cast<double>(rate.RetryDelayNs(400)), 100.0 * kNsPerMs, kNsPerMs)
      << "a clock that shows a day is no day in which nothing was answered";
}

TEST(CompletionRate, TheFirstAnswersAfterAPauseCountInFull) {
  CompletionRate rate;
  rate.Measure(0);
  rate.Measure(kWindow);
  rate.Count(100);
  rate.Measure(2 * kWindow);
  EXPECT_NEAR(static_cast<double>(rate.RetryDelayNs(400)), 100.0 * kNsPerMs, kNsPerMs);
}

TEST(CompletionRate, ALaterMeasureCountsForHalf) {
  CompletionRate rate = Steady();
  rate.Count(3 * kWindow / kNsPerMs);
  rate.Measure(kRateStart + kWindow - 1);
  EXPECT_NEAR(static_cast<double>(rate.RetryDelayNs(400)), 100.0 * kNsPerMs, kNsPerMs)
      << "the window is not over";
  rate.Measure(kRateStart + kWindow);
  EXPECT_NEAR(static_cast<double>(rate.RetryDelayNs(400)), 50.0 * kNsPerMs, kNsPerMs);
  rate.Measure(kRateStart + 2 * kWindow);
  EXPECT_NEAR(static_cast<double>(rate.RetryDelayNs(400)), 100.0 * kNsPerMs, kNsPerMs)
      << "nothing was answered in the last window";
}

}  // namespace
}  // namespace mpsd

#include "client/traffic/due_calls.h"

#include <gtest/gtest.h>

#include <optional>

#include "client/traffic/trace.h"

namespace mpsd::traffic {
namespace {

constexpr int64_t kBegin = 10 * kNsPerSecond;

// Calls at equal distances, from a second before the window to its end; the window has 100.
class DueCallsTest : public testing::Test {
 protected:
  DueCallsTest() {
    plan_.arrivals.trace = Trace{.calls = {100}, .bin_ns = kNsPerSecond};
    plan_.arrivals.rate = 100;
    plan_.warmup_ns = kNsPerSecond;
    plan_.timeline_ns = kNsPerSecond;
  }

  LoadPlan plan_;
  const Window window_{kBegin, kBegin + kNsPerSecond};
};

TEST_F(DueCallsTest, ComeFromTheWarmUpToTheWindowsEnd) {
  DueCalls due(plan_, window_, 0);
  int in_warm_up = 0;
  int in_window = 0;
  while (const std::optional<int64_t> at_ns = due.Next()) {
    EXPECT_GE(*at_ns, kBegin - kNsPerSecond);
    (window_.Holds(*at_ns) ? in_window : in_warm_up) += 1;
  }
  EXPECT_EQ(in_warm_up, 100);
  EXPECT_EQ(in_window, 100);
}

TEST_F(DueCallsTest, ThoseOfTheWarmUpAreNotCounted) {
  DueCalls due(plan_, window_, 0);
  due.Sent(kBegin - 1, kBegin);
  due.NotSent(kBegin - 1);
  EXPECT_EQ(due.counts().intended, 0u);
  EXPECT_EQ(due.counts().not_sent, 0u);
  EXPECT_EQ(due.counts().lateness.count(), 0u);
}

TEST_F(DueCallsTest, ThoseOfTheWindowAreCountedByWhatBecameOfThem) {
  DueCalls due(plan_, window_, 0);
  due.Sent(kBegin, kBegin + 5000);
  due.Sent(kBegin + 1, kBegin + 1);
  due.NotSent(kBegin + 2);
  EXPECT_EQ(due.counts().intended, 3u);
  EXPECT_EQ(due.counts().not_sent, 1u);
  EXPECT_EQ(due.counts().lateness.count(), 2u);
  EXPECT_EQ(due.counts().lateness.max_ns(), 5000);
  EXPECT_EQ(due.counts().timeline.counts(Timeline::kDue).at(0), 3u);
}

TEST_F(DueCallsTest, AllUntilTheEndCountAsManyAsTheMeanRateHas) {
  DueCalls half(plan_, window_, 0);
  half.NotSentFrom(kBegin + kNsPerSecond / 2);
  EXPECT_EQ(half.counts().intended, 51u);  // the one that was due, and 50 by the rate
  EXPECT_EQ(half.counts().not_sent, 51u);
  DueCalls all(plan_, window_, 0);
  all.NotSentFrom(kBegin - kNsPerSecond / 2);  // it was due in the warm-up
  EXPECT_EQ(all.counts().not_sent, 100u);
}

}  // namespace
}  // namespace mpsd::traffic

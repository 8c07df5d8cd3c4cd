#include "server/pool/schedule/standing_queue.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kOneMs = 1'000'000;
constexpr int64_t kTargetNs = 10 * kOneMs;
constexpr int64_t kInterval = StandingQueue::kLeastIntervalNs;

TEST(StandingQueue, StandsAfterAnIntervalOfLongWaits) {
  StandingQueue queue(kTargetNs);
  queue.NoteWait(kTargetNs, 0);
  queue.NoteWait(2 * kTargetNs, kInterval - 1);
  EXPECT_FALSE(queue.stands());
  EXPECT_EQ(queue.LongestWaitNs(), StandingQueue::kAnyNs);
  queue.NoteWait(kTargetNs, kInterval);
  EXPECT_TRUE(queue.stands());
  EXPECT_EQ(queue.LongestWaitNs(), kTargetNs);
}

TEST(StandingQueue, OneShortWaitBeginsAnotherInterval) {
  StandingQueue queue(kTargetNs);
  queue.NoteWait(kTargetNs, 0);
  queue.NoteWait(kTargetNs - 1, kInterval / 2);
  queue.NoteWait(kTargetNs, kInterval);
  queue.NoteWait(kTargetNs, 2 * kInterval - 1);
  EXPECT_FALSE(queue.stands());
  queue.NoteWait(kTargetNs, 2 * kInterval);
  EXPECT_TRUE(queue.stands());
}

TEST(StandingQueue, StandsUntilWaitsAreHalfOfTheTarget) {
  StandingQueue queue(kTargetNs);
  queue.NoteWait(kTargetNs, 0);
  queue.NoteWait(kTargetNs, kInterval);
  queue.NoteWait(kTargetNs / 2, kInterval + 1);
  EXPECT_TRUE(queue.stands());
  queue.NoteWait(kTargetNs / 2 - 1, kInterval + 2);
  EXPECT_FALSE(queue.stands());
}

TEST(StandingQueue, TheIntervalIsTwiceALongTarget) {
  StandingQueue queue(kInterval);
  queue.NoteWait(kInterval, 0);
  queue.NoteWait(kInterval, 2 * kInterval - 1);
  EXPECT_FALSE(queue.stands());
  queue.NoteWait(kInterval, 2 * kInterval);
  EXPECT_TRUE(queue.stands());
}

TEST(StandingQueue, WithoutATargetNoQueueStands) {
  StandingQueue queue(0);
  queue.NoteWait(kInterval, 0);
  queue.NoteWait(kInterval, 100 * kInterval);
  EXPECT_FALSE(queue.stands());
}

}  // namespace
}  // namespace mpsd

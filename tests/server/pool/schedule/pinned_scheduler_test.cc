#include "server/pool/schedule/pinned_scheduler.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

// Two lanes of one worker, with pins 1 and 2.
class PinnedSchedulerTest : public testing::Test {
 protected:
  static constexpr int64_t kAt = 1000 * kNsPerSecond;

  LineView* AddLine(uint64_t pin, int64_t deadline_ns = kAt + kNsPerSecond) {
    LineView line;
    line.rows = 1;
    line.head_rows = 1;
    line.head_arrival_ns = kAt;
    line.head_deadline_ns = line.head_answer_deadline_ns = line.tail_deadline_ns = deadline_ns;
    line.pin = pin;
    lines_.push_back(line);
    return &lines_.back();
  }
  SchedulerDecision Decide(int64_t now_ns = kAt) const {
    SchedulerSnapshot snapshot;
    snapshot.lines = lines_;
    snapshot.lanes = lanes_;
    snapshot.workers = workers_;
    snapshot.max_batch_rows = 4;
    return PinnedScheduler(1, delay_ns_, {}).Decide(snapshot, now_ns);
  }

  int64_t delay_ns_ = 0;
  std::vector<LineView> lines_;
  std::vector<LaneView> lanes_ = {{.pin = 1}, {.pin = 2}};
  std::vector<WorkerView> workers_ = {WorkerView()};
};

TEST_F(PinnedSchedulerTest, RunsALineOnItsOwnLane) {
  AddLine(2);
  EXPECT_EQ(Decide(), SchedulerDecision::Run(0, 1, 4));
}

TEST_F(PinnedSchedulerTest, LeavesAFreeLaneToItsOwnLines) {
  AddLine(2);
  lanes_[1].batches = 1;
  EXPECT_EQ(Decide().step, SchedulerDecision::Step::kWait);
}

TEST_F(PinnedSchedulerTest, KeepsALineWithoutALaneWaiting) {
  AddLine(3);
  EXPECT_EQ(Decide(), SchedulerDecision::WaitUntil(SchedulerDecision::kNever));
}

TEST_F(PinnedSchedulerTest, OfTheLinesOfALaneTheEarliestDeadlineIsFirst) {
  AddLine(1, kAt + 9);
  AddLine(1, kAt + 8);
  AddLine(2, kAt + 1);
  EXPECT_EQ(Decide(), SchedulerDecision::Run(1, 0, 4));
}

TEST_F(PinnedSchedulerTest, DropsWhatHasExpired) {
  AddLine(2, kAt);
  EXPECT_EQ(Decide(), SchedulerDecision::Drop(0, kAt));
}

TEST_F(PinnedSchedulerTest, WaitsForCompanyNoLongerThanItMay) {
  delay_ns_ = 50;
  AddLine(1);
  AddLine(2)->head_arrival_ns = kAt - 20;
  EXPECT_EQ(Decide(), SchedulerDecision::WaitUntil(kAt + 30));
  EXPECT_EQ(Decide(kAt + 30), SchedulerDecision::Run(1, 1, 4));
}

TEST_F(PinnedSchedulerTest, GivesNothingToAWorkerThatTakesNoBatch) {
  AddLine(1);
  workers_[0].takes_batches = false;
  EXPECT_EQ(Decide().step, SchedulerDecision::Step::kWait);
}

TEST_F(PinnedSchedulerTest, TheLaneOfAnotherWorkerIsTakenThoughThatWorkerIsSlow) {
  workers_.push_back({.first_lane = 2, .slowness = 8});
  lanes_.push_back({.worker = 1, .pin = 3});
  AddLine(3);
  EXPECT_EQ(Decide().step, SchedulerDecision::Step::kRun);
  EXPECT_EQ(Decide().lane, 2u);
}

TEST_F(PinnedSchedulerTest, ALaneWithoutOutputRoomHindersNoOther) {
  workers_.push_back({.first_lane = 2});
  lanes_.push_back({.worker = 1, .pin = 3});
  AddLine(1);
  AddLine(3);
  workers_[0].has_output_room = false;
  EXPECT_EQ(Decide(), SchedulerDecision::Run(1, 2, 4));
  lanes_[2].batches = 1;
  EXPECT_EQ(Decide(), SchedulerDecision::WaitUntil(SchedulerDecision::kNever));
}

}  // namespace
}  // namespace mpsd

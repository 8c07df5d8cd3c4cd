// Which lane is next, above all while a worker is slow.
#include "server/pool/schedule/lane_choice.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/base/clock.h"
#include "server/pool/schedule/admission_forecast.h"
#include "server/pool/schedule/lane_forecast.h"
#include "server/pool/schedule/predictive_scheduler.h"

namespace mpsd {
namespace {

constexpr int64_t kAt = 1000 * kNsPerMs;
constexpr int64_t kOneBatchNs = 10 * kNsPerMs;  // whatever its rows
constexpr uint32_t kBatchRows = 4;

class LaneChoiceTest : public testing::Test {
 protected:
  LaneChoiceTest() {
    curve_.Note(1, kOneBatchNs);
    curve_.Note(kBatchRows, kOneBatchNs);
    curve_.Note(kBatchRows, kOneBatchNs);
  }

  void AddWorker(uint32_t lanes, double slowness = 1) {
    const auto worker = static_cast<uint32_t>(workers_.size());
    workers_.push_back({.first_lane = static_cast<uint32_t>(lanes_.size()), .slowness = slowness});
    for (uint32_t i = 0; i < lanes; ++i) lanes_.push_back({.worker = worker});
  }

  // The lane has a batch, and that long to go.
  void Busy(uint32_t lane, int64_t left_ns) {
    LaneView& view = lanes_[lane];
    ++view.batches;
    view.free_at_ns = kAt + left_ns;
    ++workers_[view.worker].batches;
  }

  SchedulerSnapshot Snapshot() const {
    return {.lines = lines_, .lanes = lanes_, .workers = workers_, .max_batch_rows = kBatchRows};
  }

  // A line of so many rows waits, for answers until then.
  void Wait(uint32_t rows, int64_t for_ns = 1000 * kNsPerMs) {
    lines_ = {{.rows = rows,
               .head_rows = 1,
               .head_arrival_ns = kAt,
               .head_deadline_ns = kAt + for_ns,
               .head_answer_deadline_ns = kAt + for_ns,
               .tail_deadline_ns = kAt + for_ns,
               .curve = &curve_}};
  }

  SchedulerDecision Decide(uint32_t depth = 1, int64_t now_ns = kAt) const {
    return PredictiveScheduler(depth, 0).Decide(Snapshot(), now_ns);
  }

  LatencyCurve curve_;
  std::vector<LineView> lines_;
  std::vector<WorkerView> workers_;
  std::vector<LaneView> lanes_;
};

TEST_F(LaneChoiceTest, NothingMoreIsBoundToALaneThatMayHang) {
  AddWorker(1);
  AddWorker(1);
  Wait(kBatchRows);
  Busy(0, -kHeldUpNs);
  Busy(1, kOneBatchNs);
  Busy(1, kOneBatchNs);
  lanes_[0].expected_ns = kOneBatchNs;
  EXPECT_EQ(Decide(2), SchedulerDecision::Run(0, 0, kBatchRows)) << "it is but late";
  lanes_[0].free_at_ns -= 1;
  EXPECT_EQ(Decide(2), SchedulerDecision::WaitUntil(SchedulerDecision::kNever));
  lanes_[0].expected_ns = 2 * kHeldUpNs;
  EXPECT_EQ(Decide(2), SchedulerDecision::Run(0, 0, kBatchRows)) << "its batch is a long one";
}

TEST_F(LaneChoiceTest, OfIdleLanesTheOneWhoseWorkerHasTheLeastLeftToDo) {
  AddWorker(2);
  AddWorker(2);
  Busy(0, 9 * kNsPerMs);
  Busy(2, 2 * kNsPerMs);
  EXPECT_EQ(ChooseLane(Snapshot(), 1, kAt).lane, 3u) << "each has one batch";
}

TEST_F(LaneChoiceTest, AWorkerWhoseLaneIsLateHasMoreLeftToDo) {
  AddWorker(2);
  AddWorker(2);
  Busy(0, -50 * kNsPerMs);  // it hangs
  Busy(2, 5 * kNsPerMs);
  EXPECT_EQ(ChooseLane(Snapshot(), 1, kAt).lane, 3u);
}

TEST_F(LaneChoiceTest, OfBusyLanesTheOneThatIsFreeFirst) {
  AddWorker(1);
  AddWorker(1);
  Busy(0, 9 * kNsPerMs);
  Busy(1, 8 * kNsPerMs);
  EXPECT_EQ(ChooseLane(Snapshot(), 2, kAt).lane, 1u);
  EXPECT_FALSE(ChooseLane(Snapshot(), 1, kAt).has_room());
}

TEST_F(LaneChoiceTest, ASlowWorkerIsPassedOverWhileAnotherLaneIsIdle) {
  AddWorker(1, 3);
  AddWorker(1);
  const LaneChoice choice = ChooseLane(Snapshot(), 1, kAt);
  EXPECT_EQ(choice.lane, 1u);
  EXPECT_FALSE(choice.slow_lane.has_value());
}

TEST_F(LaneChoiceTest, ItIsOfferedOnceTheOthersAreBusy) {
  AddWorker(1, 3);
  AddWorker(1);
  Busy(1, 5 * kNsPerMs);
  EXPECT_FALSE(ChooseLane(Snapshot(), 1, kAt).lane.has_value());
  EXPECT_EQ(ChooseLane(Snapshot(), 1, kAt).slow_lane, 0u);
  EXPECT_EQ(ChooseLane(Snapshot(), 2, kAt).lane, 1u);
  EXPECT_EQ(ChooseLane(Snapshot(), 2, kAt).slow_lane, 0u);
}

TEST_F(LaneChoiceTest, ItsBusyLanesAreNeverOffered) {
  AddWorker(1, 3);
  Busy(0, 5 * kNsPerMs);
  EXPECT_FALSE(ChooseLane(Snapshot(), 2, kAt).has_room());
}

TEST_F(LaneChoiceTest, ItIsProbedNowAndThen) {
  AddWorker(1, 3);
  AddWorker(1);
  workers_[0].passed_over = kProbeEvery - 1;
  EXPECT_EQ(ChooseLane(Snapshot(), 1, kAt).lane, 1u);
  workers_[0].passed_over = kProbeEvery;
  EXPECT_EQ(ChooseLane(Snapshot(), 1, kAt).lane, 0u);
}

TEST_F(LaneChoiceTest, OneProbeAtATime) {
  AddWorker(2, 3);
  AddWorker(1);
  workers_[0].passed_over = kProbeEvery;
  Busy(0, 5 * kNsPerMs);
  EXPECT_EQ(ChooseLane(Snapshot(), 1, kAt).lane, 2u);
}

TEST_F(LaneChoiceTest, AHeadWaitsForALaneThatAnswersItSooner) {
  AddWorker(1);
  AddWorker(1, 3);
  Busy(0, 5 * kNsPerMs);
  Wait(1);
  // On the slow one it takes 30 ms, behind the other 5 + 10.
  const SchedulerDecision decision = Decide();
  EXPECT_EQ(decision.step, SchedulerDecision::Step::kWait);
  EXPECT_EQ(decision.at_ns, kAt + 25 * kNsPerMs) << "unless the lane hangs";
}

TEST_F(LaneChoiceTest, WhatIsAnsweredSoonerByTheSlowOneRunsThere) {
  AddWorker(1);
  AddWorker(1, 3);
  Busy(0, 21 * kNsPerMs);
  Wait(1);
  EXPECT_EQ(Decide(), SchedulerDecision::Run(0, 1, kBatchRows));
}

TEST_F(LaneChoiceTest, ALaneThatHangsIsNotWaitedFor) {
  AddWorker(1);
  AddWorker(1, 3);
  Busy(0, -21 * kNsPerMs);
  Wait(1);
  EXPECT_EQ(Decide(), SchedulerDecision::Run(0, 1, kBatchRows));
}

// So that a slow worker still adds to what a pool can do at most.
TEST_F(LaneChoiceTest, ALongQueueIsSharedWithTheSlowOne) {
  AddWorker(1);
  AddWorker(1, 3);
  Busy(0, 10 * kNsPerMs);
  Wait(2 * kBatchRows);
  EXPECT_EQ(Decide().step, SchedulerDecision::Step::kWait) << "30 ms there, 10 + 10 + 10 here";
  Wait(2 * kBatchRows + 1);
  EXPECT_EQ(Decide(), SchedulerDecision::Run(0, 1, kBatchRows));
}

TEST_F(LaneChoiceTest, WhoWouldBeTooLateThereDoesNotRunThere) {
  AddWorker(1);
  AddWorker(1, 3);
  Busy(0, 10 * kNsPerMs);
  Wait(4 * kBatchRows, 29 * kNsPerMs);
  EXPECT_EQ(Decide(), SchedulerDecision::WaitUntil(SchedulerDecision::kNever));
}

TEST_F(LaneChoiceTest, WithoutAnyOtherWorkerItServesAlone) {
  AddWorker(1, 3);
  AddWorker(1);
  workers_[1].takes_batches = false;
  Wait(1);
  EXPECT_EQ(Decide(), SchedulerDecision::Run(0, 0, kBatchRows));
}

TEST_F(LaneChoiceTest, WhileNoTimeIsKnownNobodyWaits) {
  AddWorker(1);
  AddWorker(1, 3);
  Busy(0, 5 * kNsPerMs);
  Wait(1);
  lines_[0].curve = nullptr;
  EXPECT_EQ(Decide(), SchedulerDecision::Run(0, 1, kBatchRows));
}

TEST_F(LaneChoiceTest, ABusyLaneStillGetsAFullBatch) {
  AddWorker(1);
  AddWorker(1, 3);
  Busy(0, 5 * kNsPerMs);
  Wait(kBatchRows);
  EXPECT_EQ(Decide(2), SchedulerDecision::Run(0, 0, kBatchRows));
  Wait(1);
  EXPECT_EQ(Decide(2).step, SchedulerDecision::Step::kWait);
}

Arrival ArrivalBehind(const LatencyCurve* curve, uint64_t rows, int64_t deadline_ns) {
  return {.curve = curve,
          .rows_ahead = rows,
          .deadline_ns = kAt + deadline_ns,
          .answer_deadline_ns = kAt + deadline_ns};
}

TEST_F(LaneChoiceTest, NobodyIsLetInForTheSakeOfASlowLaneThatIsFree) {
  AddWorker(1);
  AddWorker(1, 4);
  Busy(0, 10 * kNsPerMs);
  EXPECT_GT(Foresee(ArrivalBehind(&curve_, 0, 12 * kNsPerMs), Snapshot(), kAt).late_ns, 0);
  EXPECT_EQ(Foresee(ArrivalBehind(&curve_, 0, 25 * kNsPerMs), Snapshot(), kAt).late_ns, 0);
}

TEST_F(LaneChoiceTest, ButItHelpsWithWhatIsAhead) {
  AddWorker(1);
  AddWorker(1, 2);
  Busy(0, 10 * kNsPerMs);
  // Three batches are ahead: two of them, of that speed, and its own.
  const Arrival arrival = ArrivalBehind(&curve_, 3 * kBatchRows, 45 * kNsPerMs);
  EXPECT_EQ(Foresee(arrival, Snapshot(), kAt).late_ns, 0);
  workers_[1].takes_batches = false;
  EXPECT_GT(Foresee(arrival, Snapshot(), kAt).late_ns, 0);
}

}  // namespace
}  // namespace mpsd

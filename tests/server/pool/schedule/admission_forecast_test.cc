#include "server/pool/schedule/admission_forecast.h"

#include <gtest/gtest.h>

#include <vector>

#include "server/pool/schedule/lane_forecast.h"

namespace mpsd {
namespace {

// A batch of n rows takes 1000 + 100 n; lanes have batches until then.
class AdmissionForecastTest : public testing::Test {
 protected:
  static constexpr int64_t kNow = 1'000'000'000;

  AdmissionForecastTest() {
    for (int i = 0; i < 50; ++i) {
      curve_.Note(1, 1100);
      curve_.Note(8, 1800);
    }
  }

  void AddLane(int64_t free_at_ns, bool takes_batches = true) {
    const auto worker = static_cast<uint32_t>(workers_.size());
    const uint32_t batches = free_at_ns > 0 ? 1 : 0;
    workers_.push_back({worker, batches, takes_batches});
    lanes_.push_back({worker, batches, free_at_ns});
  }

  int64_t Lateness(uint64_t rows_ahead, int64_t time_ns, int64_t wait_ns = 1 << 30) const {
    const SchedulerSnapshot snapshot = {
        .lanes = lanes_, .workers = workers_, .max_batch_rows = 8, .usual_batch_rows = usual_rows_};
    const Foreseen foreseen = Foresee({.curve = &curve_,
                                       .most_rows = most_rows_,
                                       .rows_ahead = rows_ahead,
                                       .rows_behind = rows_behind_,
                                       .deadline_ns = kNow + wait_ns,
                                       .answer_deadline_ns = kNow + time_ns},
                                      snapshot, kNow);
    EXPECT_EQ(foreseen.is_let_in(), foreseen.late_ns == 0 || foreseen.is_tried);
    return foreseen.is_let_in() ? 0 : foreseen.late_ns;
  }

  LatencyCurve curve_;
  uint32_t usual_rows_ = 1;
  uint32_t most_rows_ = 8;
  uint64_t rows_behind_ = 0;
  std::vector<WorkerView> workers_;
  std::vector<LaneView> lanes_;
};

TEST_F(AdmissionForecastTest, WhoFindsAFreeLaneIsLetInWhateverTheCurveSays) {
  AddLane(0);
  EXPECT_EQ(Lateness(0, 10), 0);
}

TEST_F(AdmissionForecastTest, WaitsForTheLaneAndRunsInItsOwnBatch) {
  AddLane(kNow + 500);
  EXPECT_EQ(Lateness(0, 1600), 0);
  EXPECT_EQ(Lateness(0, 1500), 100);
}

TEST_F(AdmissionForecastTest, SharesABatchWithThoseAhead) {
  AddLane(kNow + 500);
  EXPECT_EQ(Lateness(3, 500 + 1400 + 1400), 0);
  EXPECT_GT(Lateness(3, 500 + 1399), 0);
}

TEST_F(AdmissionForecastTest, WaitsForWholeBatchesAhead) {
  AddLane(kNow + 500);
  // Half of 6000 allows batches of eight rows.
  EXPECT_EQ(Lateness(16, 6000), 0) << "500 + 2 * 1800 + 1100";
  EXPECT_EQ(Lateness(24, 6000), 1000) << "500 + 3 * 1800 + 1100";
}

TEST_F(AdmissionForecastTest, BatchesAheadHaveNoMoreRowsThanTheirLineMay) {
  AddLane(kNow + 500);
  most_rows_ = 2;
  EXPECT_EQ(Lateness(4, 10'000), 0);
  EXPECT_EQ(Lateness(4, 500 + 2 * 1200 + 1000), 100) << "500 + 2 * 1200 + 1100";
  usual_rows_ = 6;
  EXPECT_EQ(Lateness(4, 500 + 2 * 1200 + 1000), 200) << "500 + 2 * 1200 + 1200";
}

// A call of several requests is of no use without its last rows.
TEST_F(AdmissionForecastTest, TheRestOfTheCallHasToBeInTimeToo) {
  AddLane(kNow + 500);
  rows_behind_ = 16;
  EXPECT_EQ(Lateness(0, 6000), 0) << "500 + 2 * 1800 + 1100";
  rows_behind_ = 24;
  EXPECT_EQ(Lateness(0, 6000), 1000) << "500 + 3 * 1800 + 1100";
  rows_behind_ = 8;
  EXPECT_EQ(Lateness(16, 6000), 1000) << "behind those that are ahead of it";
}

// The call would fail after its first batches.
TEST_F(AdmissionForecastTest, AFreeLaneTriesNoRequestWhoseCallWouldBeLate) {
  AddLane(0);
  rows_behind_ = 24;
  EXPECT_EQ(Lateness(0, 6000), 500) << "3 * 1800 + 1100";
  EXPECT_EQ(Lateness(0, 10), 0) << "it would be late itself, so that the curve may be wrong";
}

TEST_F(AdmissionForecastTest, WithLittleTimeAllAheadHaveToFitIntoOneBatch) {
  AddLane(kNow + 100);
  EXPECT_EQ(Lateness(6, 1800), 0) << "100 + 1700";
  EXPECT_EQ(Lateness(6, 1700), 100);
}

TEST_F(AdmissionForecastTest, ThoseWhoComeLaterMakeTheBatchAsLargeAsUsual) {
  AddLane(kNow + 500);
  usual_rows_ = 6;
  EXPECT_EQ(Lateness(0, 500 + 1600), 0);
  EXPECT_EQ(Lateness(0, 500 + 1500), 100);
}

TEST_F(AdmissionForecastTest, LanesShareWhatIsAhead) {
  AddLane(kNow + 500);
  AddLane(kNow + 700);
  EXPECT_EQ(Lateness(32, 6000), 0) << "500 + 2 * 1800 + 1100";
}

TEST_F(AdmissionForecastTest, LanesBecomeFreeOneAfterTheOther) {
  for (const int64_t free_ns : {500, 1000, 1500}) AddLane(kNow + free_ns);
  EXPECT_EQ(Lateness(0, 1600), 0) << "500 + 1100";
  EXPECT_EQ(Lateness(8, 2000), 100) << "1000 + 1100";
  EXPECT_EQ(Lateness(16, 2500), 100) << "1500 + 1100";
  EXPECT_EQ(Lateness(24, 3300), 100) << "500 + 1800 + 1100";
}

TEST_F(AdmissionForecastTest, ALaneThatHangsHoldsUpTheOthersByOneBatch) {
  AddLane(kNow + 500);
  AddLane(kNow + 1'000'000);
  EXPECT_EQ(Lateness(8, 3400), 0) << "500 + 1800 + 1100";
}

TEST_F(AdmissionForecastTest, ALaneThatIsLateIsExpectedToTakeAsLongAgain) {
  AddLane(kNow - 2000);
  EXPECT_EQ(Lateness(0, 2000 + 1100), 0);
  EXPECT_EQ(Lateness(0, 2000 + 1000), 100);
  AddLane(kNow + 500);
  EXPECT_EQ(Lateness(0, 2000), 0) << "the other lane is free before";
}

TEST_F(AdmissionForecastTest, ALaneThatTakesNothingIsNotWaitedFor) {
  AddLane(kNow + 5000);
  AddLane(kNow + 10, false);
  EXPECT_EQ(Lateness(0, 6000), 100);
}

TEST_F(AdmissionForecastTest, EachBatchWaitsForItsTurn) {
  AddLane(kNow + 500);
  workers_[0].turn_ns = 2000;
  EXPECT_EQ(Lateness(0, 500 + 2000 + 1100), 0);
  EXPECT_EQ(Lateness(0, 500 + 2000 + 1000), 100);
  // Two batches of eight rows are ahead, of 1800 each.
  EXPECT_EQ(Lateness(16, 500 + 3 * 2000 + 2 * 1800 + 1100), 0);
  EXPECT_EQ(Lateness(16, 500 + 3 * 2000 + 2 * 1800 + 1000), 100);
}

TEST_F(AdmissionForecastTest, OfATurnThatIsAwaitedTheRestCounts) {
  AddLane(0);
  workers_[0].turn_ns = 2000;
  workers_[0].turn_since_ns = kNow - 1500;
  EXPECT_EQ(Lateness(3, 500 + 1400), 0);
  EXPECT_EQ(Lateness(3, 500 + 1300), 100);
  workers_[0].turn_since_ns = kNow - 2600;  // it is late
  EXPECT_EQ(Lateness(3, 600 + 1400), 0);
  EXPECT_EQ(Lateness(3, 600 + 1300), 100);
}

TEST_F(AdmissionForecastTest, TheShorterTurnCounts) {
  AddLane(kNow + 500);
  AddLane(kNow + 500);
  workers_[0].turn_ns = 2000;
  workers_[1].turn_ns = 300;
  EXPECT_EQ(Lateness(0, 500 + 300 + 1100), 0);
  EXPECT_EQ(Lateness(0, 500 + 300 + 1000), 100);
  // Each lane has a batch of eight rows ahead.
  EXPECT_EQ(Lateness(16, 500 + 2 * 300 + 1800 + 1100), 0);
  EXPECT_EQ(Lateness(16, 500 + 2 * 300 + 1800 + 1000), 100);
}

TEST_F(AdmissionForecastTest, WhoIsTriedAlthoughLateIsToldFromWhoIsInTime) {
  AddLane(0);
  const SchedulerSnapshot snapshot = {.lanes = lanes_, .workers = workers_, .max_batch_rows = 8};
  Arrival arrival = {
      .curve = &curve_, .deadline_ns = kNow + 5000, .answer_deadline_ns = kNow + 1000};
  EXPECT_EQ(Foresee(arrival, snapshot, kNow).late_ns, 100);
  EXPECT_TRUE(Foresee(arrival, snapshot, kNow).is_tried);
  arrival.rows_ahead = 1;
  EXPECT_FALSE(Foresee(arrival, snapshot, kNow).is_let_in()) << "the other one is tried";
  arrival.answer_deadline_ns = kNow + 5000;
  EXPECT_EQ(Foresee(arrival, snapshot, kNow).late_ns, 0);
}

// One lane alone answers 16 rows by 500 + 2 * 1800, two of them sooner.
TEST_F(AdmissionForecastTest, NobodyCountsOnALaneThatMayHangUnlessAllDo) {
  AddLane(kNow + 500);
  const int64_t alone_ns = Lateness(16, 3000);
  AddLane(kNow - kHeldUpNs - 1);
  EXPECT_LT(Lateness(16, 3000), alone_ns) << "nobody knows how long its batch takes";
  lanes_[1].expected_ns = 1000;
  EXPECT_EQ(Lateness(16, 3000), alone_ns);
  lanes_[1].expected_ns = 2 * kHeldUpNs;
  EXPECT_LT(Lateness(16, 3000), alone_ns) << "it is late by less than its batch should take";
  lanes_[1].expected_ns = 1000;
  lanes_[0] = lanes_[1];
  EXPECT_GT(Lateness(0, 3000), kHeldUpNs / 2) << "as long again as they are late";
}

TEST_F(AdmissionForecastTest, TheWaitHasADeadlineOfItsOwn) {
  AddLane(kNow + 500);
  EXPECT_EQ(Lateness(0, 6000, 500), 0);
  EXPECT_EQ(Lateness(0, 6000, 400), 100);
}

TEST_F(AdmissionForecastTest, WithoutACurveOrALaneNobodyKnows) {
  EXPECT_EQ(Lateness(100, 1), 0);
  AddLane(kNow + 500);
  EXPECT_GT(Lateness(100, 1), 0);
  curve_ = LatencyCurve();
  EXPECT_EQ(Lateness(100, 1), 0);
}

TEST_F(AdmissionForecastTest, ARequestWithAPinCountsItsOwnLaneAlone) {
  AddLane(kNow + 500);
  AddLane(kNow + 1);
  lanes_[0].pin = 7;
  lanes_[1].pin = 8;
  std::vector<LineView> lines = {{.rows = 16, .pin = 7}, {.rows = 3, .pin = 9}};
  const SchedulerSnapshot snapshot = {
      .lines = lines, .lanes = lanes_, .workers = workers_, .max_batch_rows = 8};
  const Arrival arrival = {.curve = &curve_,
                           .rows_ahead = 19,
                           .deadline_ns = kNow + (1 << 30),
                           .answer_deadline_ns = kNow + 1400};
  EXPECT_GT(Foresee(arrival, snapshot, kNow).late_ns, 0);
  EXPECT_GT(ForeseePinned(arrival, 7, snapshot, kNow).late_ns, 0) << "16 rows are before it";
  EXPECT_EQ(ForeseePinned(arrival, 8, snapshot, kNow).late_ns, 0) << "nobody is";
  EXPECT_EQ(ForeseePinned(arrival, 6, snapshot, kNow).late_ns, 0) << "the lane is gone";
  lines[0].rows = 0;
  lanes_[1].batches = 0;
  EXPECT_EQ(ForeseePinned(arrival, 7, snapshot, kNow).late_ns, 200)
      << "a free lane of others is no help";
}

}  // namespace
}  // namespace mpsd

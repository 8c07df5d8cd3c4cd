#include "server/pool/schedule/lane_steps.h"

#include <gtest/gtest.h>

#include <vector>

namespace mpsd {
namespace {

constexpr int64_t kMicro = 1000;
constexpr int64_t kFarAway = 1'000'000 * kMicro;
// A batch of n rows takes 1000 us and 100 us more a row. A usual one has five, and there are four
// lanes: three quarters of 1500 us / 4.
constexpr int64_t kStep = 281'250;

class LaneSteps : public testing::Test {
 protected:
  static constexpr int64_t kNow = 100'000 * kMicro;

  LaneSteps() : curve_(Curve(1100 * kMicro, 1800 * kMicro)), lanes_(4), workers_(4) {
    for (uint32_t i = 0; i < 4; ++i) lanes_[i].worker = i;
  }

  // One of 1 and of 8 rows.
  static LatencyCurve Curve(int64_t one_ns, int64_t eight_ns) {
    LatencyCurve curve;
    for (int i = 0; i < 50; ++i) {
      curve.Note(1, one_ns);
      curve.Note(8, eight_ns);
    }
    return curve;
  }

  void SetBusy(uint32_t lane, int64_t for_ns) {
    lanes_[lane].batches = 1;
    lanes_[lane].free_at_ns = kNow + for_ns;
  }

  // How long a lane waits with so many rows, whose head came so long ago.
  int64_t Wait(uint32_t rows, int64_t age_ns = 0) {
    line_.rows = rows;
    line_.head_rows = 1;
    line_.head_arrival_ns = kNow - age_ns;
    line_.curve = &curve_;
    const SchedulerSnapshot snapshot = {
        .lanes = lanes_, .workers = workers_, .max_batch_rows = 16, .usual_batch_rows = 5};
    return NextStepNs(snapshot, line_, kNow) - kNow;
  }

  LatencyCurve curve_;
  std::vector<LaneView> lanes_;
  std::vector<WorkerView> workers_;
  LineView line_ = {.head_deadline_ns = kNow + kFarAway,
                    .head_answer_deadline_ns = kNow + kFarAway};
};

TEST_F(LaneSteps, ALaneBecomesFreeAStepAfterTheLastOfTheOthers) {
  SetBusy(0, 1000 * kMicro);
  SetBusy(1, 400 * kMicro);
  EXPECT_EQ(Wait(1), 1000 * kMicro + kStep - 1100 * kMicro);
  EXPECT_EQ(Wait(2), 1000 * kMicro + kStep - 1200 * kMicro) << "a larger batch starts sooner";
  EXPECT_EQ(Wait(3), 0);
}

TEST_F(LaneSteps, AUsualBatchStartsAtOnce) {
  SetBusy(0, 5000 * kMicro);
  EXPECT_GT(Wait(4), 0);
  EXPECT_EQ(Wait(5), 0);
}

TEST_F(LaneSteps, NobodyWaitsWhileAllLanesAreFree) { EXPECT_EQ(Wait(1), 0); }

TEST_F(LaneSteps, NobodyWaitsLongerThanTwoSteps) {
  SetBusy(0, 50'000 * kMicro);
  EXPECT_EQ(Wait(1), 2 * kStep);
  EXPECT_EQ(Wait(1, kStep), kStep);
  EXPECT_EQ(Wait(1, 3 * kStep), 0);
}

TEST_F(LaneSteps, OneThatIsLateIsNotWaitedFor) {
  SetBusy(0, -1);
  EXPECT_EQ(Wait(1), 0);
}

TEST_F(LaneSteps, NoHeadIsLateForIt) {
  SetBusy(0, 1000 * kMicro);
  const int64_t wait_ns = Wait(1);
  line_.head_answer_deadline_ns = kNow + wait_ns + 1100 * kMicro;
  EXPECT_EQ(Wait(1), wait_ns);
  line_.head_answer_deadline_ns -= 1;
  EXPECT_EQ(Wait(1), 0);
  line_.head_answer_deadline_ns = kNow + kFarAway;
  line_.head_deadline_ns = kNow + wait_ns - 1;
  EXPECT_EQ(Wait(1), 0);
}

TEST_F(LaneSteps, ShortBatchesAndSuchAsGainNothingStartAtOnce) {
  SetBusy(0, 1000 * kMicro);
  curve_ = Curve(110 * kMicro, 180 * kMicro);
  EXPECT_EQ(Wait(1), 0);
  curve_ = Curve(1000 * kMicro, 8000 * kMicro);
  EXPECT_EQ(Wait(1), 0);
}

TEST_F(LaneSteps, LanesThatDoNotHelpDoNotCount) {
  SetBusy(0, 1000 * kMicro);
  SetBusy(1, 2000 * kMicro);
  workers_[1].slowness = 3;
  EXPECT_EQ(Wait(1), 1000 * kMicro + 1500 * kMicro / 4 - 1100 * kMicro) << "steps of three";
  workers_[2].takes_batches = workers_[3].takes_batches = false;
  EXPECT_EQ(Wait(1), 0) << "there is one alone";
}

}  // namespace
}  // namespace mpsd

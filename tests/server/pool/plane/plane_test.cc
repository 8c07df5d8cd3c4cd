#include "server/pool/plane/plane.h"

#include <vector>

#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

constexpr int64_t kDelayNs = 5 * kNsPerMs;

// Remembers the times that it was set to.
struct FakeAlarm final : Plane::Alarm {
  void WakeBy(int64_t when_ns) override { times.push_back(when_ns); }
  std::vector<int64_t> times;
};

class PlaneTest : public PoolFixture {
 protected:
  void Make(const PoolOptions& options = {}) {
    plane_.SetAlarm(&alarm_);
    keeper_.on_wake = [this](int64_t when_ns) { plane_.DrainBy(when_ns); };
    MakePool(options);
    plane_.Add(pool_.get());
    worker_ = AddWorker();
  }

  bool MustRing() const { return worker_->mailbox_page().front_parked.load() != 0; }

  // Answers the lane's batch.
  void Finish() {
    worker_->Complete(worker_->Take().value());
    Drain();
  }

  FakeAlarm alarm_;
  Plane plane_{&clock_};
  FakeWorker* worker_ = nullptr;
};

TEST_F(PlaneTest, TheLastThreadToParkAsksForTheBell) {
  Make();
  EXPECT_TRUE(plane_.Wake());
  EXPECT_FALSE(plane_.Wake()) << "another one looks already";
  EXPECT_FALSE(MustRing());
  EXPECT_TRUE(plane_.Park());
  EXPECT_FALSE(MustRing());
  EXPECT_TRUE(plane_.Park());
  EXPECT_TRUE(MustRing());
  plane_.Wake();
  EXPECT_FALSE(MustRing());
  EXPECT_TRUE(plane_.Park());
}

TEST_F(PlaneTest, WorkersAreToldOfIdleCores) {
  Make();
  EXPECT_FALSE(plane_.cores_are_left());
  for (const bool left : {true, false}) {
    plane_.SetCoresAreLeft(left);
    EXPECT_EQ(plane_.cores_are_left(), left);
    EXPECT_EQ(worker_->mailbox_page().cores_are_left.load(), left ? 1u : 0u);
  }
}

TEST_F(PlaneTest, ParkingTakesWhatCompletedMeanwhileAndStaysAwake) {
  Make();
  plane_.Wake();
  FakeCall* call = Submit(1);
  EXPECT_EQ(plane_.inside(), 1);
  worker_->Complete(*worker_->Take());
  EXPECT_FALSE(plane_.Park());
  EXPECT_EQ(call->Answer(), Rows(1));
  EXPECT_FALSE(MustRing());
  EXPECT_TRUE(plane_.Park());
  EXPECT_EQ(plane_.inside(), 0);
}

TEST_F(PlaneTest, TicksItsPools) {
  Make();
  FakeCall* call = Submit(1, 1, kNsPerMs);
  clock_.Advance(kNsPerMs);
  plane_.Tick();
  EXPECT_EQ(call->status().code(), absl::StatusCode::kDeadlineExceeded);
  worker_->Complete(*worker_->Take());
  EXPECT_EQ(plane_.Drain(), 1u) << "an abandoned batch is taken though nobody is inside";
}

TEST_F(PlaneTest, WhatATimeOutFindsWasMissedByTheBell) {
  Make();
  Submit(1);
  worker_->Complete(*worker_->Take());
  plane_.WakeByTimeOut();
  EXPECT_EQ(model_.metrics.timeout_wakeups, 1u);
}

TEST_F(PlaneTest, WhileAnotherThreadIsAwakeNothingIsMissed) {
  Make();
  plane_.Wake();
  FakeCall* call = Submit(1);
  worker_->Complete(*worker_->Take());
  plane_.WakeByTimeOut();
  EXPECT_EQ(model_.metrics.timeout_wakeups, 0u);
  EXPECT_EQ(plane_.Drain(), 1u) << "the other thread comes to it";
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PlaneTest, WhileAllSleepABatchThatWillBeDueSetsTheAlarm) {
  Make({.max_delay_ns = kDelayNs});
  Submit(1);
  EXPECT_EQ(alarm_.times, std::vector<int64_t>{clock_.NowNs() + kDelayNs});
  clock_.Advance(kDelayNs);
  plane_.Tick();
  Finish();
}

TEST_F(PlaneTest, AnAwakeThreadComesByABatchThatIsDueAndNobodyIsWoken) {
  Make({.max_delay_ns = kDelayNs});
  plane_.Wake();
  Submit(1);
  clock_.Advance(kDelayNs);
  plane_.Drain();
  Finish();
  EXPECT_TRUE(plane_.Park());
  EXPECT_TRUE(alarm_.times.empty());
}

TEST_F(PlaneTest, TheLastThreadToParkSetsTheAlarmForWhatIsStillDue) {
  Make({.max_delay_ns = kDelayNs});
  plane_.Wake();
  plane_.Wake();
  Submit(1);
  clock_.Advance(kDelayNs);
  plane_.Drain();
  Submit(2);
  const int64_t due_ns = clock_.NowNs() + kDelayNs;
  EXPECT_TRUE(plane_.Park());
  EXPECT_TRUE(alarm_.times.empty()) << "another one is awake";
  Finish();
  EXPECT_TRUE(plane_.Park());
  EXPECT_EQ(alarm_.times, std::vector<int64_t>{due_ns});
  clock_.Advance(kDelayNs);
  plane_.Tick();
  Finish();
}

TEST_F(PlaneTest, ARemovedPoolIsNotLookedAt) {
  Make();
  FakeCall* call = Submit(1);
  worker_->Complete(*worker_->Take());
  plane_.Remove(pool_.get());
  EXPECT_EQ(plane_.Drain(), 0u);
  EXPECT_EQ(plane_.inside(), 0);
  Drain();
  EXPECT_EQ(call->Answer(), Rows(1));
}

}  // namespace
}  // namespace mpsd

#include "server/plane/plane.h"

#include "tests/server/dispatch/pool_fixture.h"

namespace mpsd {
namespace {

class PlaneTest : public PoolFixture {
 protected:
  void Make() {
    MakePool();
    plane_.Add(pool_.get());
    worker_ = AddWorker();
  }

  bool MustRing() const { return worker_->mailbox_page().front_parked.load() != 0; }

  Plane plane_;
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

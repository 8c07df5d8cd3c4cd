// Two pools whose lanes need resources that they share.
#include <gmock/gmock.h>

#include "server/pool/resources/resource_table.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

// The fixture's pool and another one.
class PoolResourcesTest : public PoolFixture {
 protected:
  PoolResourcesTest() {
    other_model_.name = "other";
    other_model_.spec = model_.spec;
  }

  void TearDown() override {
    if (other_ != nullptr) {
      EXPECT_EQ(other_->inside(), 0);
      other_->workers()->Detach(0, WorkerEnd::kKilled);
      other_->FailAll("left over");
      other_->CheckInvariants();
    }
    PoolFixture::TearDown();
    for (const ResourceSample& sample : table_.Samples()) EXPECT_EQ(sample.held, 0u);
    EXPECT_FALSE(table_.has_waiting());
    other_.reset();
    pool_.reset();
  }

  PoolOptions Needing(uint32_t count) {
    PoolOptions options;
    options.lane_needs.resources = {{"R", count}};
    options.resources = &table_;
    return options;
  }

  // Both have a worker of one lane.
  void MakePools(uint32_t count, uint32_t other_count) {
    MakePool(Needing(count));
    worker_ = AddWorker();
    MakeOther(Needing(other_count));
  }

  void MakeOther(const PoolOptions& options) {
    other_ = std::make_unique<Pool>(&other_model_, options, &clock_, &replies_, &keeper_);
    other_->memory()->Add(OwnedSegment::Create(SegmentKind::kSlabs, 1 << 20, 0).value());
    const auto link = WorkerLink::Create(other_->workers()->LinkOptions(0, ++epoch_, 1)).value();
    other_side_ = std::make_unique<FakeWorker>(*link, other_->memory()->Descriptors(), &clock_);
    other_->workers()->Attach(link);
  }

  FakeCall* SubmitToOther(float value) {
    FakeCall* call = NewCall();
    RowTargets targets;
    EXPECT_TRUE(other_->Reserve(&call->request, &targets).ok());
    call->Fill(targets, value);
    other_->Commit(&call->request);
    other_->CheckInvariants();
    return call;
  }

  ResourceTable table_;
  ServedModel other_model_;
  FakeWorker* worker_ = nullptr;
  std::unique_ptr<FakeWorker> other_side_;
  std::unique_ptr<Pool> other_;
};

TEST_F(PoolResourcesTest, WhatOneHoldsTheOtherWaitsFor) {
  MakePools(1, 1);
  FakeCall* call = Submit(1);
  FakeCall* other = SubmitToOther(2);
  EXPECT_FALSE(other_side_->Take().has_value());
  EXPECT_EQ(other_model_.metrics.resource_waits, 1u);
  EXPECT_EQ(keeper_.pool_wakes(), 0u);
  Complete(worker_, worker_->Take().value());
  EXPECT_EQ(call->Answer(), Rows(1));
  EXPECT_EQ(keeper_.pool_wakes(), 1u) << "or nobody would look after the other";
  other_->Drain();
  other_side_->Complete(other_side_->Take().value());
  other_->Drain();
  EXPECT_EQ(other->Answer(), Rows(2));
}

TEST_F(PoolResourcesTest, ABusyModelLetsTheOtherHaveItsTurn) {
  MakePools(1, 1);
  Submit(1);
  Submit(2);
  FakeCall* other = SubmitToOther(3);
  Complete(worker_, worker_->Take().value());
  EXPECT_FALSE(worker_->Take().has_value()) << "it has had its turn";
  other_->Drain();
  other_side_->Complete(other_side_->Take().value());
  other_->Drain();
  EXPECT_EQ(other->endings(), 1);
  EXPECT_GE(keeper_.pool_wakes(), 2u);
  Serve(worker_);
}

TEST_F(PoolResourcesTest, ADeadWorkerGivesBackWhatItsBatchesHeld) {
  MakePools(1, 1);
  FakeCall* call = Submit(1);
  ASSERT_TRUE(worker_->Take().has_value());
  FakeCall* other = SubmitToOther(2);
  Kill(0, WorkerEnd::kKilled);
  EXPECT_EQ(keeper_.pool_wakes(), 1u);
  other_->Drain();
  other_side_->Complete(other_side_->Take().value());
  other_->Drain();
  EXPECT_EQ(other->Answer(), Rows(2));
  worker_ = AddWorker();
  Serve(worker_);
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolResourcesTest, WhoIsCancelledWaitsNoMore) {
  MakePools(1, 1);
  Submit(1);
  FakeCall* other = SubmitToOther(2);
  Submit(3);
  other_->Cancel(&other->request);
  EXPECT_FALSE(table_.has_waiting());
  Serve(worker_);
  EXPECT_EQ(other->endings(), 1);
}

TEST_F(PoolResourcesTest, WhoHasExpiredWaitsNoMore) {
  MakePools(1, 1);
  Submit(1, 1, 2 * kTimeoutNs);
  FakeCall* other = SubmitToOther(2);
  clock_.Advance(kTimeoutNs);
  other_->Tick();
  EXPECT_EQ(other->endings(), 1);
  EXPECT_FALSE(table_.has_waiting());
  Serve(worker_);
}

TEST_F(PoolResourcesTest, WhatFitsBesideRunsAtTheSameTime) {
  table_.SetLimits({{"R", 2}}, {});
  MakePools(1, 1);
  Submit(1);
  SubmitToOther(2);
  EXPECT_EQ(table_.Samples()[0].held, 2u);
  Serve(worker_);
  other_side_->Complete(other_side_->Take().value());
  other_->Drain();
}

// The pool's knowledge of others' turns, and how the pool keeps it.
class PoolTurnsTest : public PoolResourcesTest {
 protected:
  static constexpr int64_t kRunNs = 10 * kNsPerMs;

  void RunOurs() {
    const FakeWorker::Job job = worker_->Take().value();
    clock_.Advance(kRunNs);
    Complete(worker_, job);
  }

  // The other pool has what both need for so long, and then this one for kRunNs, where `waits`.
  void TakeTurns(int64_t other_ns, bool waits = true) {
    SubmitToOther(1);
    Submit(2, 1, waits ? kTimeoutNs : other_ns);
    clock_.Advance(other_ns);
    if (!waits) pool_->Tick();  // it expires
    other_side_->Complete(other_side_->Take().value());
    other_->Drain();
    Drain();
    if (waits) RunOurs();
  }

  void LearnTurns() {
    MakePools(1, 1);
    for (int i = 0; i < 50; ++i) TakeTurns(2 * kRunNs);
  }

  // Whether a request is refused behind a batch that has just begun: there is time for both, but
  // not for a turn between them.
  bool IsRefusedBehindOne() {
    Serve(worker_);
    Submit(3);
    const FakeCall* call = Submit(4, 1, 3 * kRunNs);
    const bool refused = call->status().code() == absl::StatusCode::kResourceExhausted;
    Serve(worker_);
    return refused;
  }
};

TEST_F(PoolTurnsTest, WhomOthersTurnsWouldMakeTooLateIsRefusedAtOnce) {
  LearnTurns();
  Submit(3);  // runs
  const FakeCall* late = Submit(4, 1, 3 * kRunNs);
  const FakeCall* in_time = Submit(5, 1, 6 * kRunNs);
  EXPECT_EQ(late->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(in_time->endings(), 0);
  Serve(worker_);
}

TEST_F(PoolTurnsTest, TurnsThatAreThereAtOnceAreForgottenAsWaits) {
  LearnTurns();
  for (int i = 0; i < 50; ++i) {
    Submit(1);
    RunOurs();
  }
  EXPECT_FALSE(IsRefusedBehindOne());
}

TEST_F(PoolTurnsTest, OfATurnThatIsAwaitedTheRestCounts) {
  LearnTurns();
  SubmitToOther(1);
  Submit(2);  // waits
  clock_.Advance(2 * kRunNs - kRunNs / 2);
  const FakeCall* call = Submit(3, 1, 5 * kRunNs / 2);
  EXPECT_EQ(call->endings(), 0);
  other_side_->Complete(other_side_->Take().value());
  other_->Drain();
  Serve(worker_);
}

TEST_F(PoolTurnsTest, TheyAreKnownOfANewWorkerToo) {
  LearnTurns();
  Kill(0, WorkerEnd::kKilled);
  worker_ = AddWorker();
  EXPECT_TRUE(IsRefusedBehindOne());
}

TEST_F(PoolTurnsTest, WhoExpiresWithoutATurnHasWaitedForIt) {
  MakePools(1, 1);
  for (int i = 0; i < 3; ++i) {
    Submit(1);
    RunOurs();
  }
  for (int i = 0; i < 50; ++i) TakeTurns(2 * kRunNs, /*waits=*/false);
  EXPECT_TRUE(IsRefusedBehindOne());
}

TEST_F(PoolTurnsTest, ABatchThatDoesNotBeginHadNoTurn) {
  LearnTurns();
  const std::shared_ptr<WorkerLink> link = workers_[0].link;
  OutputLease* all = link->LeaseOutput(link->outputs().bytes / 64 * 64);
  ASSERT_NE(all, nullptr);
  Submit(1);
  for (int i = 0; i < 50; ++i) pool_->Tick();  // takes, finds no room for outputs, and puts back
  all->Unref();
  pool_->Tick();
  EXPECT_TRUE(IsRefusedBehindOne());
}

TEST_F(PoolResourcesTest, LanesOfOnePoolShareThemToo) {
  MakePool(Needing(1));
  FakeWorker* worker = AddWorker(0, 2);
  Submit(1);
  Submit(2);
  EXPECT_TRUE(worker->Take(0).has_value() != worker->Take(1).has_value());
  EXPECT_EQ(model_.metrics.running_batches, 1);
  ServeByAnother();
}

TEST_F(PoolResourcesTest, SuspectsNeedThemAsWell) {
  MakePools(1, 1);
  FakeCall* suspect = Submit(1);
  FakeCall* behind = Submit(2);
  ASSERT_TRUE(worker_->Take().has_value());
  Kill(0, WorkerEnd::kKilled);
  worker_ = AddWorker();
  ASSERT_TRUE(worker_->Take().has_value());
  Kill(0, WorkerEnd::kKilled);  // twice: the first one runs alone from now on
  SubmitToOther(3);
  worker_ = AddWorker();
  EXPECT_FALSE(worker_->Take().has_value());
  other_side_->Complete(other_side_->Take().value());
  other_->Drain();
  Serve(worker_);
  EXPECT_EQ(suspect->Answer(), Rows(1));
  EXPECT_EQ(behind->Answer(), Rows(2));
}

TEST_F(PoolResourcesTest, AMissingOutputRoomHoldsNothing) {
  MakePools(1, 1);
  const std::shared_ptr<WorkerLink> link = workers_[0].link;
  OutputLease* all = link->LeaseOutput(link->outputs().bytes / 64 * 64);
  ASSERT_NE(all, nullptr);
  FakeCall* call = Submit(1);
  EXPECT_EQ(table_.Samples()[0].held, 0u);
  SubmitToOther(2);
  other_side_->Complete(other_side_->Take().value());
  other_->Drain();
  all->Unref();
  pool_->Tick();
  Serve(worker_);
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolResourcesTest, AMissingOutputRoomWakesNobodyAgainAndAgain) {
  MakePools(1, 1);
  const LaneNeeds elsewhere = {{{"S", 1}}, 1};
  ResourceClaim* const holds = table_.Enter(elsewhere, "cpu", 1);
  ResourceClaim* const waits = table_.Enter(elsewhere, "cpu", 1);
  ASSERT_TRUE(table_.TryTake(holds));
  ASSERT_FALSE(table_.TryTake(waits));
  const std::shared_ptr<WorkerLink> link = workers_[0].link;
  OutputLease* all = link->LeaseOutput(link->outputs().bytes / 64 * 64);
  ASSERT_NE(all, nullptr);
  Submit(1);
  const uint32_t wakes = keeper_.pool_wakes();
  for (int i = 0; i < 3; ++i) pool_->Tick();
  EXPECT_EQ(keeper_.pool_wakes(), wakes) << "those who wait, wait for something else";
  all->Unref();
  table_.StopWaiting(waits);
  table_.Leave(waits);
  table_.GiveBack(holds, 0);
  table_.Leave(holds);
  pool_->Tick();
  Serve(worker_);
}

TEST_F(PoolResourcesTest, WhoIsCancelledWhileItsRowsAreFilledWaitsForNothing) {
  MakePools(1, 1);
  Submit(1);  // holds all there is
  FakeCall* queued = SubmitToOther(2);
  FakeCall* filling = NewCall();
  RowTargets targets;
  ASSERT_TRUE(other_->Reserve(&filling->request, &targets).ok());
  other_->Cancel(&queued->request);
  other_->Cancel(&filling->request);
  filling->Fill(targets, 3);
  other_->Commit(&filling->request);
  EXPECT_EQ(filling->endings(), 1);
  EXPECT_FALSE(table_.has_waiting());
  Serve(worker_);
}

}  // namespace
}  // namespace mpsd

// The fate of requests with the same content as one that crashed its worker.
#include <gmock/gmock.h>

#include "server/pool/quarantine.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

// The content that crashes workers here.
constexpr float kPoison = 666;

class PoolQuarantine : public PoolFixture {
 protected:
  PoolQuarantine() { MakePool(); }

  // Two workers die of a request while it is alone.
  void Strike() {
    FakeCall* call = Submit(kPoison);
    EXPECT_EQ(CrashTwo(), Conviction::kContent);
    ASSERT_EQ(call->status(), Crashed());
  }

  static absl::Status Crashed() { return absl::InternalError("request crashed its worker"); }
};

TEST_F(PoolQuarantine, WhoHoldsTheSameReachesNoWorker) {
  Strike();
  FakeWorker* worker = AddWorker();
  for (int i = 0; i < 20; ++i) {
    FakeCall* again = Submit(kPoison);
    EXPECT_EQ(again->status(), Crashed());
    EXPECT_FALSE(worker->Take().has_value());
  }
  EXPECT_EQ(model_.metrics.quarantined_requests, 20u);
  EXPECT_EQ(model_.metrics.input_slabs_leased, 1) << "the open slab, of which no row lives";
  FakeCall* other = Submit(1);
  Serve(worker);
  EXPECT_EQ(other->Answer(), Rows(1));
}

TEST_F(PoolQuarantine, AnotherShapeOfTheSameBytesIsAnotherContent) {
  Strike();
  FakeCall* two_rows = Submit(kPoison, 2);
  Serve(AddWorker());
  EXPECT_EQ(two_rows->Answer(), Rows(kPoison, 2));
  EXPECT_EQ(model_.metrics.quarantined_requests, 0u);
}

// A content that harms one model may be harmless to others, and to its next generation.
TEST_F(PoolQuarantine, HoldsForNoOtherPool) {
  Strike();
  Pool other(&model_, {}, &clock_, &replies_, &keeper_);
  other.memory()->Add(OwnedSegment::Create(SegmentKind::kSlabs, 4 << 20, 0).value());
  FakeCall* call = NewCall();
  RowTargets targets;
  ASSERT_TRUE(other.Reserve(&call->request, &targets).ok());
  call->Fill(targets, kPoison);
  other.Commit(&call->request);
  EXPECT_EQ(call->endings(), 0) << "it waits for a worker";
  EXPECT_EQ(model_.metrics.quarantined_requests, 0u);
  other.FailAll("the end");
  other.Tick();
  EXPECT_EQ(Submit(kPoison)->status(), Crashed());
}

TEST_F(PoolQuarantine, AfterItsPeriodItIsTriedAgain) {
  Strike();
  clock_.Advance(Quarantine::kPeriodNs - 1);
  EXPECT_EQ(Submit(kPoison)->status(), Crashed());
  clock_.Advance(1);
  FakeCall* call = Submit(kPoison);
  Serve(AddWorker());
  EXPECT_EQ(call->Answer(), Rows(kPoison));
}

// They came before anyone knew.
TEST_F(PoolQuarantine, WhoHoldsTheSameInTheLineEndsWithTheStrike) {
  AddWorker();
  FakeCall* struck = Submit(kPoison);
  FakeCall* same = Submit(kPoison);
  FakeCall* other = Submit(1);
  FakeCall* two_rows = Submit(kPoison, 2);
  Kill(0, WorkerEnd::kCrashed);
  EXPECT_EQ(same->endings(), 0);
  AddWorker();
  Kill(0, WorkerEnd::kCrashed);
  EXPECT_EQ(struck->status(), Crashed());
  EXPECT_EQ(same->status(), Crashed());
  EXPECT_EQ(model_.metrics.quarantined_requests, 1u);
  EXPECT_EQ(pool_->inside(), 2);
  Serve(AddWorker());
  EXPECT_EQ(other->Answer(), Rows(1));
  EXPECT_EQ(two_rows->Answer(), Rows(kPoison, 2));
}

TEST_F(PoolQuarantine, OfSuspectsWithTheSameContentOneDies) {
  for (int i = 0; i < 3; ++i) Submit(kPoison);
  FakeCall* innocent = Submit(1);
  AddWorker();
  Kill(0, WorkerEnd::kCrashed);  // with all four
  for (const FakeCall& call : calls_) EXPECT_EQ(call.endings(), 0);
  AddWorker();
  Kill(0, WorkerEnd::kCrashed);  // with one of the three
  for (int i = 0; i < 3; ++i) EXPECT_EQ(calls_[static_cast<size_t>(i)].status(), Crashed());
  Serve(AddWorker());
  EXPECT_EQ(innocent->Answer(), Rows(1));
}

TEST_F(PoolQuarantine, ADeathThatIsNoStrikeLeavesNothingBehind) {
  AddWorker();
  FakeCall* call = Submit(1);
  Kill(0, WorkerEnd::kKilled);
  FakeCall* same = Submit(1);
  Serve(AddWorker());
  EXPECT_EQ(call->Answer(), Rows(1));
  EXPECT_EQ(same->Answer(), Rows(1));
}

// Its worker got a signal from outside.
TEST_F(PoolQuarantine, WhoWasAloneInACrashIsTriedOnceMore) {
  AddWorker();
  FakeCall* call = Submit(1);
  EXPECT_EQ(Kill(0, WorkerEnd::kCrashed), Conviction::kSuspicion);
  EXPECT_EQ(call->endings(), 0);
  Serve(AddWorker());
  EXPECT_EQ(call->Answer(), Rows(1));
  EXPECT_TRUE(pool_->RefusedContents().empty());
}

TEST_F(PoolQuarantine, WhatWasAnsweredBeforeIsNeverRefused) {
  FakeCall* answered = Submit(1);
  Serve(AddWorker());
  EXPECT_EQ(answered->Answer(), Rows(1));
  FakeCall* unlucky = Submit(1);
  FakeCall* same = Submit(1);
  EXPECT_EQ(Kill(0, WorkerEnd::kCrashed), Conviction::kSuspicion);
  AddWorker();
  EXPECT_EQ(Kill(0, WorkerEnd::kCrashed), Conviction::kRequest);
  EXPECT_EQ(unlucky->status(), Crashed());
  EXPECT_TRUE(pool_->RefusedContents().empty());
  Serve(AddWorker());
  EXPECT_EQ(same->Answer(), Rows(1));
}

// A client that gives up after each death, and asks again.
TEST_F(PoolQuarantine, TheSecondDeathMayBeAnotherRequestsOfTheSameContent) {
  AddWorker();
  FakeCall* first = Submit(kPoison);
  Kill(0, WorkerEnd::kCrashed);
  pool_->Cancel(&first->request);
  FakeCall* second = Submit(kPoison);
  AddWorker();
  EXPECT_EQ(Kill(0, WorkerEnd::kCrashed), Conviction::kContent);
  EXPECT_EQ(second->status(), Crashed());
  EXPECT_EQ(pool_->RefusedContents().size(), 1u);
}

TEST_F(PoolQuarantine, AnAnswerToTheSameContentClearsIt) {
  AddWorker();
  FakeCall* first = Submit(1);
  Kill(0, WorkerEnd::kCrashed);
  pool_->Cancel(&first->request);
  FakeCall* second = Submit(1);
  Serve(AddWorker());
  EXPECT_EQ(second->Answer(), Rows(1));
  FakeCall* third = Submit(1);
  EXPECT_EQ(Kill(0, WorkerEnd::kCrashed), Conviction::kSuspicion);
  EXPECT_EQ(third->endings(), 0);
  Serve(AddWorker());
  EXPECT_EQ(third->Answer(), Rows(1));
}

// A client that cancels before its rows are filled is told so, whatever they hold.
TEST_F(PoolQuarantine, ACancelledRequestEndsAsCancelled) {
  Strike();
  FakeCall* call = NewCall();
  RowTargets targets;
  ASSERT_TRUE(pool_->Reserve(&call->request, &targets).ok());
  call->Fill(targets, kPoison);
  pool_->Cancel(&call->request);
  pool_->Commit(&call->request);
  EXPECT_EQ(call->status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(model_.metrics.quarantined_requests, 0u);
}

}  // namespace
}  // namespace mpsd

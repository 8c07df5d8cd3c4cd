#include "server/compose/sequences/sequence_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "proto/base/limits.h"
#include "tests/server/compose/sequences/sequence_fixture.h"

namespace mpsd {
namespace {

class SequenceQueueTest : public SequenceFixture {};

TEST_F(SequenceQueueTest, SuppliesTheInputsThatNoClientSends) {
  Entered(5, 7, /*starts=*/true);
  ASSERT_EQ(pool_->taken.size(), 1u);
  const TurnPool::Taken& first = pool_->taken[0];
  EXPECT_EQ(first.Number(0), 5);
  EXPECT_EQ(first.Number(1), 1) << "it starts";
  EXPECT_EQ(first.Number(2), 0) << "and does not end";
  EXPECT_EQ(first.Number(3), 7) << "the id";
  EXPECT_EQ(first.Number(4), 0) << "the state begins with zeros";
  EXPECT_EQ(first.request->pin, kPin);
  EXPECT_EQ(first.request->key, (ShapeKey{1, kPin}));
  pool_->Answer(0);
}

TEST_F(SequenceQueueTest, GivesEachRequestTheStateOfTheOneBefore) {
  Entered(5, 7, true);
  pool_->Answer(0);
  Entered(6, 7);
  EXPECT_EQ(pool_->taken[1].Number(4), 5);
  pool_->Answer(1);
  Call* const last = Entered(1, 7, false, /*ends=*/true);
  EXPECT_EQ(pool_->taken[2].Number(4), 11);
  EXPECT_EQ(pool_->taken[2].Number(2), 1);
  pool_->Answer(2);
  EXPECT_EQ(context_.states.taken_bytes(), 0u);
  ASSERT_EQ(last->sink.outputs().size(), 1u) << "the state is not told";
  EXPECT_EQ(last->sink.outputs()[0].name, "y");
  EXPECT_TRUE(last->request.is_answered);
  EXPECT_EQ(last->request.times.finished_ns, 30);
}

TEST_F(SequenceQueueTest, ToldStatesAreOutputsAsWell) {
  Call* const call = NewCall(5, 7, true);
  call->request.wanted_outputs = {1, 0};
  ASSERT_TRUE(Enter(call).ok());
  pool_->Answer(0);
  ASSERT_EQ(call->sink.outputs().size(), 2u);
  EXPECT_EQ(call->sink.outputs()[0].name, "sum_out");
}

TEST_F(SequenceQueueTest, TwoRequestsOfASequenceAreNeverInsideAtOnce) {
  Entered(5, 7, true);
  Call* const second = Entered(6, 7);
  Entered(9, 8, true);
  ASSERT_EQ(pool_->taken.size(), 2u) << "one of each sequence";
  EXPECT_EQ(second->sink.endings(), 0);
  pool_->Answer(0);
  ASSERT_EQ(pool_->taken.size(), 3u) << "its turn comes with the answer to the one before";
  EXPECT_EQ(pool_->taken[2].Number(4), 5);
  pool_->Answer(1);
  pool_->Answer(2);
  EXPECT_EQ(second->sink.endings(), 1);
}

TEST_F(SequenceQueueTest, RefusesARequestWithoutASequence) {
  EXPECT_TRUE(absl::IsInvalidArgument(Enter(NewCall(5, 0, true))));
  Call* const step = NewCall(5, 7, true);
  step->request.sequence = nullptr;
  EXPECT_TRUE(absl::IsInvalidArgument(Enter(step)));
  Call* const rows = NewCall(5, 7, true);
  rows->request.rows = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(Enter(rows)));
  Call* const name = NewCall(5, 0, true);
  name->mark.name = std::string(kMaxSequenceIdBytes + 1, 'n');
  EXPECT_TRUE(absl::IsInvalidArgument(Enter(name)));
  EXPECT_TRUE(absl::IsInvalidArgument(Enter(NewCall(5, 7))));
  EXPECT_TRUE(pool_->taken.empty());
}

TEST_F(SequenceQueueTest, ARestartBeginsWithZeros) {
  Entered(5, 7, true);
  Entered(6, 7, true);
  pool_->Answer(0);
  EXPECT_EQ(pool_->taken[1].Number(4), 0);
  EXPECT_EQ(pool_->taken[1].Number(1), 1);
  pool_->Answer(1);
}

TEST_F(SequenceQueueTest, ARequestThatFailsLeavesTheStateAsItWas) {
  Entered(5, 7, true);
  pool_->Answer(0);
  Call* const failing = Entered(6, 7);
  pool_->Fail(1, absl::InternalError("broke"));
  EXPECT_TRUE(absl::IsInternal(failing->sink.status()));
  Entered(1, 7);
  EXPECT_EQ(pool_->taken[2].Number(4), 5);
  pool_->Answer(2);
}

TEST_F(SequenceQueueTest, AStateOfAnotherSizeFailsTheRequest) {
  Call* const call = Entered(5, 7, true);
  pool_->state_bytes = 3;
  pool_->Answer(0);
  EXPECT_TRUE(absl::IsInternal(call->sink.status())) << call->sink.status();
}

TEST_F(SequenceQueueTest, TheLossOfALaneIsToldToAllRequests) {
  Call* const runs = Entered(5, 7, true);
  Call* const waits = Entered(6, 7);
  const uint64_t pins[] = {kPin};
  queue_->LanesLeft(pins);
  for (Call* const call : {runs, waits}) {
    EXPECT_EQ(call->sink.endings(), 1);
    EXPECT_TRUE(absl::IsUnavailable(call->sink.status())) << call->sink.status();
    EXPECT_NE(call->sink.status().message().find("state of sequence 7"), std::string::npos);
  }
  Call* const follower = NewCall(1, 7);
  EXPECT_TRUE(absl::IsInvalidArgument(Enter(follower)));
  EXPECT_NE(follower->sink.status().message().find("worker is gone"), std::string::npos);
  Call* const fresh = Entered(2, 7, true);
  const uint64_t other[] = {kPin + 1};
  queue_->LanesJoined(other);
  ASSERT_EQ(pool_->taken.size(), 2u) << "it waited for a lane";
  EXPECT_EQ(pool_->taken[1].request->pin, kPin + 1);
  pool_->Answer(1);
  EXPECT_EQ(fresh->sink.endings(), 1);
}

TEST_F(SequenceQueueTest, AStartIsRefusedWhereNoLaneComesInTime) {
  const uint64_t pins[] = {kPin};
  queue_->LanesLeft(pins);
  Call* const waits = NewCall(5, 7, true);
  waits->request.deadline_ns = clock_.NowNs() + 5;
  ASSERT_TRUE(Enter(waits).ok());
  queue_->ExpectAt(clock_.NowNs() + 30);
  EXPECT_TRUE(absl::IsUnavailable(waits->sink.status())) << waits->sink.status();
  Call* const next = NewCall(5, 8, true);
  next->request.deadline_ns = clock_.NowNs() + 5;
  EXPECT_TRUE(absl::IsUnavailable(Enter(next)));
}

TEST_F(SequenceQueueTest, CancelsWhatWaitsAndWhatRuns) {
  Call* const runs = Entered(5, 7, true);
  Call* const waits = Entered(6, 7);
  queue_->Cancel(&waits->request);
  EXPECT_TRUE(absl::IsCancelled(waits->sink.status()));
  queue_->Cancel(&runs->request);
  EXPECT_TRUE(absl::IsCancelled(runs->sink.status()));
  queue_->Cancel(&runs->request);
  EXPECT_EQ(runs->sink.endings(), 1);
}

TEST_F(SequenceQueueTest, CancelsATurnThatIsBeingFilled) {
  Call* const call = NewCall(5, 7, true);
  pool_->on_commit = [&] {
    pool_->on_commit = nullptr;
    queue_->Cancel(&call->request);
  };
  ASSERT_TRUE(Enter(call).ok());
  EXPECT_TRUE(absl::IsCancelled(call->sink.status()));
  EXPECT_EQ(call->sink.endings(), 1);
}

// Its turn has begun, and the pool does not know it yet.
TEST_F(SequenceQueueTest, CancelsATurnThatIsOnItsWayToThePool) {
  Call* const call = NewCall(5, 7, true);
  pool_->on_reserve = [&] {
    pool_->on_reserve = nullptr;
    queue_->Cancel(&call->request);
    EXPECT_EQ(call->sink.endings(), 0);
  };
  ASSERT_TRUE(Enter(call).ok());
  EXPECT_TRUE(absl::IsCancelled(call->sink.status()));
  EXPECT_EQ(call->sink.endings(), 1);
}

TEST_F(SequenceQueueTest, TurnsThatFailAtOnceDoNotBeginEachOther) {
  Entered(5, 7, true);
  std::vector<Call*> followers;
  for (int i = 0; i < 50; ++i) followers.push_back(Entered(6, 7));
  int depth = 0;
  int deepest = 0;
  pool_->on_commit = [&] {
    deepest = std::max(deepest, ++depth);
    pool_->Fail(pool_->taken.size() - 1, absl::DeadlineExceededError("too late"));
    --depth;
  };
  pool_->Answer(0);
  EXPECT_EQ(deepest, 1);
  for (const Call* const call : followers) {
    EXPECT_EQ(call->sink.endings(), 1);
    EXPECT_TRUE(absl::IsDeadlineExceeded(call->sink.status()));
  }
}

TEST_F(SequenceQueueTest, ATurnWhoseTimeHasPassedIsNotBegun) {
  Entered(5, 7, true);
  Call* const late = NewCall(6, 7);
  late->request.deadline_ns = clock_.NowNs() + 5;
  ASSERT_TRUE(Enter(late).ok());
  Call* const next = Entered(1, 7);
  clock_.Advance(5);
  pool_->Answer(0);
  EXPECT_TRUE(absl::IsDeadlineExceeded(late->sink.status()));
  ASSERT_EQ(pool_->taken.size(), 2u);
  EXPECT_EQ(pool_->taken[1].Number(0), 1);
  pool_->Answer(1);
  EXPECT_EQ(next->sink.endings(), 1);
}

TEST_F(SequenceQueueTest, TimeEndsWaitsAndIdleSequences) {
  Entered(5, 7, true);
  Call* const late = NewCall(6, 7);
  late->request.deadline_ns = clock_.NowNs() + 5;
  ASSERT_TRUE(Enter(late).ok());
  clock_.Advance(5);
  queue_->Tick(clock_.NowNs());
  EXPECT_TRUE(absl::IsDeadlineExceeded(late->sink.status()));
  pool_->Answer(0);
  clock_.Advance(1000);
  queue_->Tick(clock_.NowNs());
  Call* const follower = NewCall(1, 7);
  EXPECT_TRUE(absl::IsInvalidArgument(Enter(follower)));
  EXPECT_NE(follower->sink.status().message().find("for too long"), std::string::npos);
}

TEST_F(SequenceQueueTest, ATurnThatThePoolRefusesEndsWithItsWord) {
  pool_->room = 0;
  Call* const call = Entered(5, 7, true);
  EXPECT_TRUE(absl::IsResourceExhausted(call->sink.status()));
  EXPECT_EQ(model_->metrics.open_sequences, 0) << "its first request was not answered";
}

TEST_F(SequenceQueueTest, AnEndThatThePoolRefusesMayComeAgain) {
  Entered(5, 7, true);
  pool_->Answer(0);
  pool_->room = 0;
  Call* const refused = Entered(1, 7, false, /*ends=*/true);
  EXPECT_TRUE(absl::IsResourceExhausted(refused->sink.status()));
  pool_->room = 1;
  Call* const again = Entered(1, 7, false, /*ends=*/true);
  ASSERT_EQ(pool_->taken.size(), 2u);
  EXPECT_EQ(pool_->taken[1].Number(2), 1) << "the model learns of the end";
  pool_->Answer(1);
  EXPECT_TRUE(again->sink.status().ok());
  EXPECT_EQ(model_->metrics.open_sequences, 0);
}

TEST_F(SequenceQueueTest, AReplacedModelEndsItsSequences) {
  Call* const runs = Entered(5, 7, true);
  Call* const waits = Entered(6, 7);
  queue_->Close();
  EXPECT_TRUE(absl::IsUnavailable(waits->sink.status()));
  EXPECT_NE(waits->sink.status().message().find("state"), std::string::npos);
  EXPECT_EQ(runs->sink.endings(), 0) << "what runs is answered";
  pool_->Answer(0);
  EXPECT_TRUE(runs->sink.status().ok());
  EXPECT_TRUE(absl::IsAborted(Enter(NewCall(1, 8, true))));
}

TEST_F(SequenceQueueTest, AReplacedModelThatLosesALaneEndsWhatRunsThere) {
  Call* const runs = Entered(5, 7, true);
  queue_->Close();
  const uint64_t pins[] = {kPin};
  queue_->LanesLeft(pins);
  EXPECT_EQ(runs->sink.endings(), 1);
  EXPECT_TRUE(absl::IsUnavailable(runs->sink.status())) << runs->sink.status();
}

TEST_F(SequenceQueueTest, TheEndOfTheDaemonEndsWhatWaits) {
  Call* const runs = Entered(5, 7, true);
  Call* const waits = Entered(6, 7);
  queue_->FailAll("Server exiting");
  EXPECT_EQ(waits->sink.status().message(), "Server exiting");
  pool_->Answer(0);
  EXPECT_EQ(runs->sink.endings(), 1);
}

}  // namespace
}  // namespace mpsd

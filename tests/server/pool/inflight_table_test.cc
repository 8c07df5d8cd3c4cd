#include "server/pool/inflight_table.h"

#include <gmock/gmock.h>

#include <deque>

#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_pool_keeper.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class InflightTableTest : public testing::Test {
 protected:
  InflightTableTest() { model_.name = "m"; }

  // Ends what a test has left, and the duty of each reply.
  ~InflightTableTest() override {
    table_.ForEach([this](InflightTable::Position position, InflightBatch*) { End(position); });
    for (FakeCall& call : calls_) {
      if (call.request.reply.owed()) call.request.reply.Fail(absl::OkStatus());
    }
  }

  void Attach(uint32_t number, uint32_t lanes = 1) {
    WorkerLink::Options options;
    options.worker = number;
    options.epoch = 10 + number;
    options.lanes = lanes;
    options.outputs.bytes = 4096;
    table_.Attach(WorkerLink::Create(options).value());
    table_.CheckInvariants();
  }

  Request* NewRequest(int64_t deadline_ns = 100) {
    FakeCall& call = calls_.emplace_back();
    call.Describe(1, {2}, 0, deadline_ns);
    call.request.Go(RequestState::kReserved);
    call.request.Go(RequestState::kQueued);
    call.request.Go(RequestState::kRunning);
    return &call.request;
  }

  // A batch of these requests runs on the lane, since `batched_ns` and for `expected_ns`.
  InflightTable::Position Start(uint32_t lane, const std::vector<Request*>& requests,
                                int64_t batched_ns = 0, int64_t expected_ns = 0) {
    auto batch = std::make_unique<InflightBatch>();
    for (Request* request : requests) {
      batch->formed.entries.push_back({request, batch->formed.row_count++, 1, {}});
    }
    WorkerLink* link = table_.worker(table_.lanes()[lane].worker).link.get();
    batch->id = BatchIdOf(next_batch_++, link->epoch());
    batch->lease = link->LeaseOutput(64);
    batch->batched_ns = batched_ns;
    batch->life.Go(SlotState::kLeased);
    batch->life.Go(SlotState::kRunning);
    const InflightTable::Position position = {lane, table_.FreeSlot(lane)};
    table_.Start(position, std::move(batch), expected_ns);
    table_.CheckInvariants();
    return position;
  }

  void End(InflightTable::Position position) {
    table_.At(position)->life.Go(SlotState::kCompleted);
    table_.TakeOut(position)->lease->Unref();
  }

  bool IsCancelled(InflightTable::Position position) {
    return table_.port(position.lane)->mailbox->records[position.slot].cancelled.load() != 0;
  }

  ServedModel model_;
  FakePoolKeeper keeper_;
  std::deque<FakeCall> calls_;
  uint64_t next_batch_ = 1;
  InflightTable table_{&model_, &keeper_};
};

TEST_F(InflightTableTest, CountsTheBatchesOfLanesAndWorkers) {
  Attach(0, 2);
  Attach(1);
  const InflightTable::Position first = Start(1, {NewRequest()});
  const InflightTable::Position second = Start(1, {NewRequest()});
  Start(2, {NewRequest()});
  EXPECT_NE(first.slot, second.slot);
  EXPECT_EQ(table_.lanes()[0].batches, 0u);
  EXPECT_EQ(table_.lanes()[1].batches, 2u);
  EXPECT_EQ(table_.workers()[0].batches, 2u);
  EXPECT_EQ(table_.workers()[1].batches, 1u);
  EXPECT_EQ(model_.metrics.running_batches, 3);
  End(first);
  table_.CheckInvariants();
  EXPECT_EQ(table_.At(first), nullptr);
  EXPECT_EQ(table_.FreeSlot(1), first.slot) << "the slot is used again";
  EXPECT_EQ(table_.workers()[0].batches, 1u);
  EXPECT_EQ(model_.metrics.running_batches, 2);
}

TEST_F(InflightTableTest, ALaneIsFreeWhenItsBatchesHaveRun) {
  Attach(0);
  const InflightTable::Position first = Start(0, {NewRequest()}, 1000, 50);
  EXPECT_EQ(table_.lanes()[0].free_at_ns, 1050);
  const InflightTable::Position second = Start(0, {NewRequest()}, 1010, 30);
  EXPECT_EQ(table_.lanes()[0].free_at_ns, 1080) << "one after the other";
  EXPECT_EQ(table_.NoteRun(first, 1040), 40);
  End(first);
  EXPECT_EQ(table_.NoteRun(second, 1060), 20) << "the lane had the first one before";
  End(second);
  EXPECT_EQ(table_.lanes()[0].free_at_ns, 0) << "earlier than expected";
}

TEST_F(InflightTableTest, WalksLaneByLane) {
  Attach(0, 2);
  Attach(1, 2);
  for (const uint32_t lane : {3, 0, 3, 2}) Start(lane, {NewRequest()});
  std::vector<uint32_t> lanes;
  table_.ForEach([&](InflightTable::Position position, InflightBatch* batch) {
    lanes.push_back(position.lane);
    EXPECT_EQ(table_.At(position), batch);
  });
  EXPECT_THAT(lanes, ElementsAre(0, 2, 3, 3));
}

TEST_F(InflightTableTest, LaterWorkersMoveUpWhenOneIsRemoved) {
  Attach(5, 2);
  Attach(6, 1);
  Attach(7, 3);
  Start(3, {NewRequest()});
  LanePort* port = table_.port(3);
  EXPECT_EQ(table_.Remove(1)->worker(), 6u);
  table_.CheckInvariants();
  EXPECT_EQ(table_.Find(6), std::nullopt);
  EXPECT_EQ(table_.Find(7), 1u);
  EXPECT_EQ(table_.workers()[1].first_lane, 2u);
  EXPECT_EQ(table_.lanes()[2].worker, 1u);
  EXPECT_EQ(table_.lanes()[2].batches, 1u) << "its batch moves with its lane";
  EXPECT_EQ(table_.port(2), port);
  table_.Remove(0);
  table_.CheckInvariants();
  EXPECT_EQ(table_.Find(7), 0u);
}

TEST_F(InflightTableTest, AnAbandonedRequestLeavesTheOthersInTheirBatch) {
  Attach(0);
  Request* first = NewRequest();
  Request* second = NewRequest();
  const InflightTable::Position position = Start(0, {first, second});
  table_.Abandon(first);
  table_.CheckInvariants();
  EXPECT_FALSE(IsCancelled(position));
  EXPECT_EQ(table_.At(position)->life.state(), SlotState::kRunning);
  table_.Abandon(second);
  table_.CheckInvariants();
  EXPECT_TRUE(IsCancelled(position)) << "the lane may skip it";
  EXPECT_EQ(table_.At(position)->life.state(), SlotState::kAbandoned);
  EXPECT_EQ(table_.workers()[0].batches, 1u) << "the lane has it until it comes back";
}

TEST_F(InflightTableTest, TakesExpiredRequestsOfAllWorkers) {
  Attach(0);
  Attach(1);
  Request* expired = NewRequest(10);
  Request* late = NewRequest(11);
  Request* other = NewRequest(9);
  const InflightTable::Position mixed = Start(0, {late, expired});
  const InflightTable::Position dead = Start(1, {other});
  std::vector<Request*> taken;
  table_.TakeExpired(10, &taken);
  EXPECT_THAT(taken, ElementsAre(expired, other));
  EXPECT_FALSE(IsCancelled(mixed));
  EXPECT_TRUE(IsCancelled(dead));
  taken.clear();
  table_.TakeExpired(10, &taken);
  EXPECT_THAT(taken, IsEmpty()) << "each once";
}

TEST_F(InflightTableTest, ACondemnedWorkerTakesNoBatchesAndIsReported) {
  Attach(3);
  table_.Condemn(0, "a lie");
  table_.CheckInvariants();
  EXPECT_TRUE(table_.worker(0).condemned);
  EXPECT_FALSE(table_.workers()[0].takes_batches);
  ASSERT_EQ(keeper_.condemned().size(), 1u);
  EXPECT_EQ(keeper_.condemned()[0].worker, 3u);
  EXPECT_EQ(keeper_.condemned()[0].epoch, 13u);
  EXPECT_EQ(keeper_.condemned()[0].reason, "a lie");
}

TEST_F(InflightTableTest, AKeptWorkerIsKeptUntilABatchOfOthersStarts) {
  Attach(0);
  table_.Keep(0);
  Request* suspect = NewRequest();
  suspect->suspect = true;
  End(Start(0, {suspect}));
  EXPECT_TRUE(table_.workers()[0].kept);
  Start(0, {NewRequest()});
  EXPECT_FALSE(table_.workers()[0].kept);
}

TEST_F(InflightTableTest, NoMoreBatchesThanALaneHasCredits) {
  Attach(0);
  for (uint32_t i = 0; i < kMaxLaneDepth; ++i) Start(0, {NewRequest()});
  EXPECT_DEATH(table_.FreeSlot(0), "check failed");
}

TEST_F(InflightTableTest, ABatchOfALivingWorkerIsNotTakenOut) {
  Attach(0);
  const InflightTable::Position position = Start(0, {NewRequest()});
  EXPECT_DEATH(table_.TakeOut(position), "check failed");
  EXPECT_DEATH(table_.Remove(0), "check failed");
}

TEST_F(InflightTableTest, ARunningRequestIsThere) {
  Attach(0);
  EXPECT_DEATH(table_.Abandon(NewRequest()), "check failed");
}

}  // namespace
}  // namespace mpsd

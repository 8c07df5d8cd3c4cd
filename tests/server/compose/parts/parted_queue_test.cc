#include "server/compose/parts/parted_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "server/request/answer_cache.h"
#include "tests/server/compose/parts/parted_fixture.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class PartedQueueTest : public PartedFixture {
 protected:
  absl::Status Reserve(const std::string& rows) {
    rows_ = rows;
    Fill(rows_, &sink_, &payload_, &request_);
    RowTargets targets;
    absl::Status status = model_->queue->Reserve(&request_, &targets);
    EXPECT_EQ(targets.later, status.ok());
    return status;
  }
  // Ten rows in the parts 0123, 4567 and 89.
  void Begin() {
    ASSERT_EQ(Reserve("0123456789"), absl::OkStatus());
    ASSERT_EQ(pool_->taken.size(), 3u);
  }
  void ExpectEnded(absl::StatusCode code) {
    EXPECT_EQ(sink_.endings(), 1);
    EXPECT_EQ(sink_.status().code(), code);
    EXPECT_EQ(request_.state, RequestState::kEnded);
    for (const FakePool::Taken& taken : pool_->taken) EXPECT_TRUE(taken.is_over);
  }

  std::string rows_;  // the client's bytes
  Payload payload_;
  RecordingReplySink sink_;
  Request request_;
};

TEST_F(PartedQueueTest, RowsAreCutAtTheBatchAndJoinedInTheirOrder) {
  Begin();
  EXPECT_EQ(pool_->taken[0].rows, "0123");
  EXPECT_EQ(pool_->taken[1].rows, "4567");
  EXPECT_EQ(pool_->taken[2].rows, "89");
  for (const size_t number : {2, 0}) pool_->Answer(number);
  EXPECT_EQ(sink_.endings(), 0);
  pool_->Answer(1);
  ExpectEnded(absl::StatusCode::kOk);
  ASSERT_EQ(sink_.outputs().size(), 1u);
  EXPECT_EQ(sink_.outputs()[0].name, "y");
  EXPECT_EQ(sink_.outputs()[0].dims, (Dims{10, 1}));
  EXPECT_EQ(sink_.outputs()[0].bytes, "0123456789");
  EXPECT_TRUE(request_.is_answered);
  EXPECT_EQ(request_.times.batched_ns, 8) << "of the first batch";
  EXPECT_EQ(request_.times.started_ns, 20);
  EXPECT_EQ(request_.times.finished_ns, 32) << "of the last one";
  EXPECT_EQ(request_.sums.input_ns, 7) << "of the longest";
  EXPECT_EQ(request_.sums.infer_ns, 7);
  EXPECT_EQ(request_.sums.output_ns, 9);
}

TEST_F(PartedQueueTest, APartHasAllOfTheWholeButItsRows) {
  Begin();
  for (const FakePool::Taken& taken : pool_->taken) {
    const Request& part = *taken.request;
    EXPECT_EQ(part.model, model_);
    EXPECT_EQ(part.metrics, &model_->metrics);
    EXPECT_EQ(part.arrival_ns, 5);
    EXPECT_EQ(part.deadline_ns, 70);
    EXPECT_EQ(part.tenant, 3u);
    EXPECT_EQ(part.priority, 2u);
    EXPECT_EQ(part.level, 1u);
    EXPECT_EQ(part.key, (ShapeKey{1}));
    EXPECT_TRUE(part.wanted_outputs == request_.wanted_outputs);
    EXPECT_TRUE(taken.is_filled);
  }
  EXPECT_EQ(pool_->taken[0].request->rows_behind, 6u);
  EXPECT_EQ(pool_->taken[1].request->rows_behind, 2u);
  EXPECT_EQ(pool_->taken[2].request->rows_behind, 0u);
  for (size_t number = 0; number < 3; ++number) pool_->Answer(number);
}

TEST_F(PartedQueueTest, ARequestOfABatchGoesStraightOn) {
  rows_ = "abcd";
  Fill(rows_, &sink_, &payload_, &request_);
  RowTargets targets;
  ASSERT_EQ(model_->queue->Reserve(&request_, &targets), absl::OkStatus());
  EXPECT_FALSE(targets.later);
  ASSERT_EQ(pool_->taken.size(), 1u);
  EXPECT_EQ(pool_->taken[0].request, &request_) << "itself";
  EXPECT_EQ(request_.queue, pool_);
  ASSERT_EQ(model_->queue->RowsFor(request_), pool_);
  pool_->Commit(&request_);
  EXPECT_TRUE(pool_->taken[0].is_filled);
  pool_->Answer(0);
  EXPECT_EQ(sink_.endings(), 1);
}

TEST_F(PartedQueueTest, PartsMayWaitForMemory) {
  pool_->all_later = true;
  Begin();
  EXPECT_FALSE(pool_->taken[0].is_filled) << "the pool fills it";
  for (FakePool::Taken& taken : pool_->taken) {
    RowTargets targets;
    targets.inputs = {taken.rows.data()};
    taken.request->filler->Fill(model_->spec, *taken.request, targets);
  }
  for (size_t number = 0; number < 3; ++number) pool_->Answer(number);
  ExpectEnded(absl::StatusCode::kOk);
  EXPECT_EQ(sink_.outputs()[0].bytes, "0123456789");
}

TEST_F(PartedQueueTest, WhereThereIsNoRoomForTheFirstPartTheCallerOwesTheReply) {
  pool_->room = 0;
  EXPECT_EQ(Reserve("0123456789").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(sink_.endings(), 0);
  EXPECT_EQ(request_.state, RequestState::kNew);
  request_.reply.Fail(absl::OkStatus());
}

TEST_F(PartedQueueTest, WhereThereIsNoRoomForALaterPartTheOthersAreCancelled) {
  pool_->room = 2;
  ASSERT_EQ(Reserve("0123456789"), absl::OkStatus());
  ExpectEnded(absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(sink_.status().message(), "Exceeds maximum queue size");
  EXPECT_EQ(pool_->taken.size(), 2u);
}

TEST_F(PartedQueueTest, APartThatEntersWhileAnotherFailsIsCancelled) {
  pool_->all_later = true;
  pool_->on_reserve = [this] {
    if (pool_->taken.size() == 2) pool_->Fail(0, absl::InternalError("at once"));
  };
  ASSERT_EQ(Reserve("0123456789"), absl::OkStatus());
  EXPECT_EQ(pool_->taken.size(), 3u);
  ExpectEnded(absl::StatusCode::kInternal);
  EXPECT_EQ(sink_.status().message(), "at once");
}

TEST_F(PartedQueueTest, AfterAFaultNoPartEnters) {
  pool_->all_later = true;
  pool_->on_reserve = [this] {
    if (pool_->taken.size() == 1) pool_->Fail(0, absl::InternalError("at once"));
  };
  ASSERT_EQ(Reserve("0123456789"), absl::OkStatus());
  EXPECT_EQ(pool_->taken.size(), 2u);
  ExpectEnded(absl::StatusCode::kInternal);
}

// So no request has parts in two generations of its model.
TEST_F(PartedQueueTest, ACloseWaitsUntilAllPartsAreInside) {
  std::thread closer;
  pool_->on_reserve = [&] {
    if (pool_->taken.size() != 1) return;
    closer = std::thread([this] { model_->queue->Close(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it closes now, if it may
  };
  Begin();
  closer.join();
  EXPECT_TRUE(pool_->is_closed);
  for (size_t number = 0; number < 3; ++number) pool_->Answer(number);
  ExpectEnded(absl::StatusCode::kOk);
}

TEST_F(PartedQueueTest, AClosedQueueTakesNoPart) {
  model_->queue->Close();
  EXPECT_EQ(Reserve("0123456789").code(), absl::StatusCode::kAborted);
  request_.reply.Fail(absl::OkStatus());
}

TEST_F(PartedQueueTest, OneFaultEndsAllPartsAndTheRequest) {
  Begin();
  pool_->Answer(0);
  pool_->Fail(2, absl::InternalError("row 9 is bad"));
  ExpectEnded(absl::StatusCode::kInternal);
  EXPECT_EQ(sink_.status().message(), "row 9 is bad");
  EXPECT_FALSE(request_.is_answered);
}

TEST_F(PartedQueueTest, TheFirstFaultIsTold) {
  Begin();
  // A part that runs cannot be cancelled in an instant.
  pool_->taken[1].is_over = true;
  pool_->Fail(0, absl::InternalError("first"));
  EXPECT_EQ(sink_.endings(), 0) << "a part is open, and reads the payload";
  pool_->Fail(1, absl::InternalError("second"));
  ExpectEnded(absl::StatusCode::kInternal);
  EXPECT_EQ(sink_.status().message(), "first");
}

TEST_F(PartedQueueTest, AnAnswerAfterAFaultIsDropped) {
  Begin();
  pool_->taken[1].is_over = true;
  pool_->Fail(0, absl::InternalError("first"));
  pool_->Answer(1);
  ExpectEnded(absl::StatusCode::kInternal);
  EXPECT_EQ(answers_.taken_bytes(), 0u);
}

TEST_F(PartedQueueTest, TheClientMayCancel) {
  Begin();
  pool_->Answer(1);
  request_.queue->Cancel(&request_);
  ExpectEnded(absl::StatusCode::kCancelled);
}

TEST_F(PartedQueueTest, RowsOfDifferentShapesEndTheRequest) {
  Begin();
  pool_->Answer(0);
  pool_->AnswerWith(1, "44556677");
  ExpectEnded(absl::StatusCode::kInternal);
  EXPECT_THAT(sink_.status().message(), HasSubstr("'y' cannot be joined"));
}

TEST_F(PartedQueueTest, AnAnswerLargerThanAMessageEndsTheRequest) {
  model_->facts.answer_bytes_max = 9;
  Begin();
  pool_->Answer(0);
  ExpectEnded(absl::StatusCode::kResourceExhausted);
}

TEST_F(PartedQueueTest, TheWholeAnswerIsKeptWhereAnswersAreKept) {
  struct FakeCache final : AnswerCache {
    bool TryAnswer(Request*) override { return false; }
    void Keep(const Request& request, const Answer& answer) override {
      key = *request.cache_key;
      bytes = std::string(answer.outputs[0].bytes);
    }
    ContentKey key{};
    std::string bytes;
  };
  auto cache = std::make_unique<FakeCache>();
  FakeCache* const kept = cache.get();
  model_->cache = std::move(cache);
  request_.cache_key = ContentKey{1, 2};
  Begin();
  for (size_t number = 0; number < 3; ++number) {
    EXPECT_FALSE(pool_->taken[number].request->cache_key.has_value());
    pool_->Answer(number);
  }
  EXPECT_EQ(kept->key, (ContentKey{1, 2}));
  EXPECT_EQ(kept->bytes, "0123456789");
}

}  // namespace
}  // namespace mpsd

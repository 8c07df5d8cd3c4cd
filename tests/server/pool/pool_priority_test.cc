// The order of service in a pool whose requests have priorities.
#include <gmock/gmock.h>

#include <cstring>

#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

constexpr int64_t kWaitNs = 10 * kNsPerMs;

class PoolPriorityTest : public PoolFixture {
 protected:
  void MakePoolOf(std::vector<uint32_t> queue_requests) {
    MakePool({.queue_requests = std::move(queue_requests)});
  }

  FakeCall* SubmitAt(uint32_t level, float value, bool yields = false) {
    FakeCall* call = NewCall();
    call->request.level = level;
    call->request.yields = yields;
    if (yields) call->request.LimitWait(clock_.NowNs() + kWaitNs);
    return Enter(call, value);
  }

  // The lane's next batch: the values of its rows, in their order.
  std::vector<float> RunBatch(FakeWorker* worker) {
    std::vector<float> values;
    const std::optional<FakeWorker::Job> job = worker->Take();
    if (!job.has_value()) return values;
    values.resize(job->row_count);
    for (size_t row = 0; row < values.size(); ++row) {
      std::memcpy(&values[row], job->inputs[0].data() + row * 2 * sizeof(float), sizeof(float));
    }
    Complete(worker, *job);
    return values;
  }
};

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST_F(PoolPriorityTest, TheUrgentGoFirstAndOthersFillTheirBatch) {
  MakePoolOf({8, 8});
  FakeWorker* worker = AddWorker();
  Submit(0);  // the lane is busy
  for (const float value : {21.f, 22.f, 23.f, 24.f}) SubmitAt(1, value);
  for (const float value : {11.f, 12.f}) SubmitAt(0, value);
  EXPECT_THAT(RunBatch(worker), ElementsAre(0));
  EXPECT_THAT(RunBatch(worker), ElementsAre(11, 12, 21, 22));
  EXPECT_THAT(RunBatch(worker), ElementsAre(23, 24));
}

// One tenant has filled the line; a row of each is in every batch from when the other comes.
TEST_F(PoolPriorityTest, TenantsShareALevel) {
  MakePoolOf({32});
  FakeWorker* worker = AddWorker();
  Submit(0);  // the lane is busy
  const auto submit_of = [this](uint32_t tenant, float value) {
    FakeCall* call = NewCall();
    call->request.tenant = tenant;
    Enter(call, value);
  };
  for (const float value : {11.f, 12.f, 13.f, 14.f, 15.f, 16.f}) submit_of(1, value);
  for (const float value : {21.f, 22.f, 23.f}) submit_of(2, value);
  EXPECT_THAT(RunBatch(worker), ElementsAre(0));
  EXPECT_THAT(RunBatch(worker), UnorderedElementsAre(11, 21, 12, 22));
  EXPECT_THAT(RunBatch(worker), UnorderedElementsAre(13, 23, 14, 15));
  EXPECT_THAT(RunBatch(worker), ElementsAre(16));
}

TEST_F(PoolPriorityTest, ALevelThatOverflowsLeavesRoomForTheOthers) {
  MakePoolOf({2, 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(SubmitAt(1, 1)->endings(), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitAt(1, 1)->status()));
  EXPECT_EQ(SubmitAt(0, 2)->endings(), 0);
  EXPECT_EQ(SubmitAt(0, 2)->endings(), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitAt(0, 2)->status()));
  Serve(AddWorker());
}

TEST_F(PoolPriorityTest, WhoHasWaitedYieldsAndIsServedAllTheSame) {
  MakePoolOf({8});
  FakeWorker* worker = AddWorker();
  Submit(0);
  for (const float value : {1.f, 2.f}) SubmitAt(0, value, /*yields=*/true);
  clock_.Advance(kWaitNs);
  for (const float value : {3.f, 4.f, 5.f}) SubmitAt(0, value);
  pool_->Tick();
  pool_->CheckInvariants();
  EXPECT_EQ(model_.metrics.delayed_requests, 2u);
  RunBatch(worker);
  EXPECT_THAT(RunBatch(worker), ElementsAre(3, 4, 5, 1));
  EXPECT_THAT(RunBatch(worker), ElementsAre(2));
}

TEST_F(PoolPriorityTest, TheSchedulerDelaysWithoutATickToo) {
  MakePoolOf({8});
  FakeWorker* worker = AddWorker();
  Submit(0);
  SubmitAt(0, 1, /*yields=*/true);
  clock_.Advance(kWaitNs);
  SubmitAt(0, 2);
  RunBatch(worker);
  EXPECT_THAT(RunBatch(worker), ElementsAre(2, 1));
  EXPECT_EQ(model_.metrics.delayed_requests, 1u);
}

TEST_F(PoolPriorityTest, WhoYieldsEndsWithItsDeadline) {
  MakePoolOf({8});
  FakeCall* call = SubmitAt(0, 1, /*yields=*/true);
  TickAfter(kWaitNs);
  EXPECT_EQ(call->endings(), 0);
  TickAfter(kTimeoutNs - kWaitNs);
  EXPECT_TRUE(absl::IsDeadlineExceeded(call->status()));
}

TEST_F(PoolPriorityTest, WhoYieldsWaitsForAWorkerThatComesAfterItsWait) {
  MakePoolOf({8});
  pool_->workers()->ExpectAt(clock_.NowNs() + 2 * kWaitNs);
  FakeCall* call = SubmitAt(0, 1, /*yields=*/true);
  Serve(AddWorker());
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolPriorityTest, TheLimitOfAWaitEndsWithTheStartOfTheBatch) {
  MakePoolOf({8});
  FakeWorker* worker = AddWorker();
  const auto submit = [this](float value) {
    FakeCall* call = NewCall();
    call->request.LimitWait(clock_.NowNs() + kWaitNs);
    return Enter(call, value);
  };
  FakeCall* running = submit(1);
  TickAfter(kWaitNs);
  Serve(worker);
  EXPECT_EQ(running->Answer(), Rows(1));
  const std::shared_ptr<WorkerLink> link = workers_[0].link;
  OutputLease* all = link->LeaseOutput(link->outputs().bytes / 64 * 64);
  ASSERT_NE(all, nullptr);
  FakeCall* waiting = submit(2);  // its batch is formed, but finds no room for the outputs
  TickAfter(kWaitNs);
  EXPECT_TRUE(absl::IsDeadlineExceeded(waiting->status()));
  all->Unref();
}

TEST_F(PoolPriorityTest, AtTheEndNobodyYields) {
  MakePoolOf({8});
  FakeCall* call = SubmitAt(0, 1, /*yields=*/true);
  pool_->FailAll("gone");
  EXPECT_TRUE(absl::IsUnavailable(call->status()));
  EXPECT_EQ(model_.metrics.delayed_requests, 0u);
}

// Each batch takes 10 ms. Four are ahead of a calm request, and none of an urgent one.
TEST_F(PoolPriorityTest, OnlyThoseThatAreServedBeforeCountInAForecast) {
  MakePoolOf({64, 64});
  FakeWorker* worker = AddWorker();
  for (int i = 0; i < 3; ++i) {
    for (int row = 0; row < 4; ++row) SubmitAt(1, 1);
    for (bool busy = true; busy;) {
      clock_.Advance(10 * kNsPerMs);
      busy = !RunBatch(worker).empty();
    }
  }
  for (int row = 0; row < 20; ++row) SubmitAt(1, 1);
  const auto ends_at = [&](uint32_t level) {
    FakeCall* call = NewCall(1, 35 * kNsPerMs);
    call->request.level = level;
    RowTargets targets;
    const absl::Status status = pool_->Reserve(&call->request, &targets);
    if (!status.ok()) call->request.reply.Fail(status);
    if (!status.ok()) return status.code();
    call->Fill(targets, 2);
    pool_->Commit(&call->request);
    return absl::StatusCode::kOk;
  };
  EXPECT_EQ(ends_at(1), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ends_at(0), absl::StatusCode::kOk);
  Serve(worker);
}

}  // namespace
}  // namespace mpsd

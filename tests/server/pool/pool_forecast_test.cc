// A pool's knowledge of its model's times, and how the pool uses it.
#include <gmock/gmock.h>

#include "server/request/retry_info.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

constexpr int64_t kBatchNs = 10 * kNsPerMs;

class PoolForecastTest : public PoolFixture {
 protected:
  // The lane takes its time for the batch that it has.
  void RunBatch(FakeWorker* worker) {
    const std::optional<FakeWorker::Job> job = worker->Take();
    ASSERT_TRUE(job.has_value());
    clock_.Advance(kBatchNs);
    Complete(worker, *job);
  }

  // So that the pool knows how long a batch of one row takes.
  FakeWorker* AddKnownWorker() {
    FakeWorker* worker = AddWorker();
    for (int i = 0; i < 3; ++i) {
      Submit(1);
      RunBatch(worker);
    }
    return worker;
  }
};

TEST_F(PoolForecastTest, WhoWouldBeTooLateIsRefusedAtOnce) {
  MakePool();
  FakeWorker* worker = AddKnownWorker();
  FakeCall* running = Submit(1);
  clock_.Advance(kBatchNs / 2);
  FakeCall* late = Submit(2, 1, kBatchNs);
  EXPECT_EQ(late->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(late->status().message(), "no lane is free in time for the request's deadline");
  const std::optional<int64_t> retry_ns = RetryAfterNs(late->status());
  ASSERT_TRUE(retry_ns.has_value());
  EXPECT_GE(*retry_ns, kBatchNs / 2);
  EXPECT_LE(*retry_ns, kBatchNs);
  EXPECT_EQ(model_.metrics.refused_in_advance, 1u);
  FakeCall* in_time = Submit(3, 1, 2 * kBatchNs);
  EXPECT_EQ(in_time->endings(), 0);
  Serve(worker);
  EXPECT_EQ(running->Answer(), Rows(1));
  EXPECT_EQ(in_time->Answer(), Rows(3));
}

// Its time has passed before it came here: behind other steps, or in a line of its sequence.
TEST_F(PoolForecastTest, WhoIsLateAlreadyIsToldSo) {
  MakePool();
  FakeWorker* worker = AddKnownWorker();
  Submit(1);
  FakeCall* late = NewCall(1, kBatchNs);
  clock_.Advance(kBatchNs);
  RowTargets targets;
  const absl::Status status = pool_->Reserve(&late->request, &targets);
  EXPECT_EQ(status, absl::DeadlineExceededError("Request timeout expired"));
  late->request.reply.Fail(status);
  EXPECT_EQ(model_.metrics.refused_in_advance, 0u);
  Serve(worker);
}

TEST_F(PoolForecastTest, WhoFindsTheLaneFreeIsTriedWhateverIsKnown) {
  MakePool();
  FakeWorker* worker = AddKnownWorker();
  FakeCall* call = Submit(1, 1, kBatchNs / 2);
  Serve(worker);
  EXPECT_EQ(call->Answer(), Rows(1)) << "the model may be faster now";
}

TEST_F(PoolForecastTest, NobodyIsRefusedWhileNothingIsKnown) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  FakeCall* call = Submit(2, 1, 1);
  EXPECT_EQ(call->endings(), 0);
  Serve(worker);
}

// Requests of one call, of four rows each, that come while nothing is known of their batches.
class PoolCallTest : public PoolForecastTest {
 protected:
  void Ask(uint32_t parts, int64_t timeout_ns) {
    MakePool();
    worker_ = AddWorker();
    for (uint32_t part = 0; part < parts; ++part) {
      FakeCall* call = NewCall(4, timeout_ns);
      call->request.rows_behind = 4 * (parts - 1 - part);
      calls_of_one_.push_back(Enter(call, 1));
    }
  }

  FakeWorker* worker_ = nullptr;
  std::vector<FakeCall*> calls_of_one_;
};

TEST_F(PoolCallTest, WhenBatchesAreKnownACallThatCannotBeInTimeIsRefused) {
  Ask(10, 5 * kBatchNs);
  RunBatch(worker_);
  EXPECT_EQ(calls_of_one_[0]->Answer(), Rows(1, 4)) << "a first batch may be slower than others";
  RunBatch(worker_);
  EXPECT_EQ(calls_of_one_[1]->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(RetryAfterNs(calls_of_one_[1]->status()).has_value());
  EXPECT_EQ(model_.metrics.refused_in_advance, 1u);
  for (FakeCall* call : calls_of_one_) pool_->Cancel(&call->request);
  Serve(worker_);
}

TEST_F(PoolCallTest, ACallThatMayBeInTimeGoesOn) {
  Ask(5, 6 * kBatchNs);
  for (int batch = 0; batch < 5; ++batch) RunBatch(worker_);
  for (FakeCall* call : calls_of_one_) EXPECT_EQ(call->Answer(), Rows(1, 4));
  EXPECT_EQ(model_.metrics.refused_in_advance, 0u);
}

TEST_F(PoolForecastTest, AHeadThatIsTooLateIsGivenUpForThoseBehindIt) {
  MakePool();
  FakeWorker* worker = AddKnownWorker();
  Submit(1);
  FakeCall* head = Submit(2, 1, 2 * kBatchNs + 2 * kNsPerMs);
  FakeCall* behind = Submit(3, 1, 10 * kBatchNs);
  clock_.Advance(5 * kNsPerMs);  // the batch takes longer than usual
  RunBatch(worker);
  EXPECT_EQ(head->status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(model_.metrics.given_up_requests, 1u);
  Serve(worker);
  EXPECT_EQ(behind->Answer(), Rows(3));
}

// Many were let in, since nothing was known, and are too late now.
class PoolMarginTest : public PoolForecastTest {
 protected:
  static constexpr int64_t kDeadlineNs = 5 * kBatchNs / 2;

  void MissDeadlines() {
    MakePool();
    worker_ = AddWorker();
    Submit(1);
    for (int i = 0; i < 300; ++i) late_.push_back(Submit(2, 1, kDeadlineNs));
    clock_.Advance(kDeadlineNs);
  }

  // So that the pool knows it.
  void BeAsFastAsEver() {
    for (int i = 0; i < 100; ++i) {
      Submit(1);
      RunBatch(worker_);
    }
  }

  // Whether a request is let in behind a batch that has just begun: there is time for both.
  bool IsLetInBehindOne() {
    Serve(worker_);
    for (int i = 0; i < 3; ++i) {
      Submit(1);
      RunBatch(worker_);
    }
    Submit(1);
    const FakeCall* call = Submit(2, 1, kDeadlineNs);
    const bool let_in = call->endings() == 0;
    Serve(worker_);
    return let_in;
  }

  FakeWorker* worker_ = nullptr;
  std::vector<FakeCall*> late_;
};

TEST_F(PoolMarginTest, WithoutMissesForecastsAreTrusted) {
  MakePool();
  worker_ = AddWorker();
  EXPECT_TRUE(IsLetInBehindOne());
}

TEST_F(PoolMarginTest, ExpiredRequestsMakeForecastsCareful) {
  MissDeadlines();
  pool_->Tick();
  EXPECT_FALSE(IsLetInBehindOne());
}

TEST_F(PoolMarginTest, ClientsThatLeaveAtTheirDeadlineMakeForecastsCareful) {
  MissDeadlines();
  for (FakeCall* call : late_) pool_->Cancel(&call->request);
  EXPECT_FALSE(IsLetInBehindOne());
}

TEST_F(PoolMarginTest, ClientsThatLeaveBeforeTeachNothing) {
  MissDeadlines();
  pool_->Tick();
  EXPECT_FALSE(IsLetInBehindOne());
  for (int i = 0; i < 300 * 20; ++i) {
    FakeCall* call = Submit(1, 1, kDeadlineNs);
    clock_.Advance(2 * kDeadlineNs / 3);
    pool_->Cancel(&call->request);
    Serve(worker_);
  }
  BeAsFastAsEver();
  EXPECT_FALSE(IsLetInBehindOne());
}

TEST_F(PoolMarginTest, WhoIsTriedAndIsLateAsForeseenTeachesNothing) {
  MakePool();
  worker_ = AddKnownWorker();
  for (int i = 0; i < 300; ++i) {
    Submit(1, 1, kBatchNs / 2);
    RunBatch(worker_);
  }
  EXPECT_EQ(model_.metrics.refused_in_advance, 0u);
  EXPECT_TRUE(IsLetInBehindOne());
}

TEST_F(PoolMarginTest, TheLimitOfAWaitTeachesNothing) {
  MakePool();
  worker_ = AddWorker();
  Submit(1);
  for (int i = 0; i < 200; ++i) {
    FakeCall* call = NewCall(1, kDeadlineNs);
    call->request.LimitWait(clock_.NowNs() + kBatchNs / 2);
    Enter(call, 2);
  }
  RunBatch(worker_);
  EXPECT_TRUE(IsLetInBehindOne());
}

TEST_F(PoolMarginTest, LateAnswersMakeForecastsCareful) {
  MakePool();
  worker_ = AddWorker();
  for (int i = 0; i < 1200; ++i) {
    Submit(1, 1, kDeadlineNs);
    const std::optional<FakeWorker::Job> job = worker_->Take();
    // One in four has too little time left for the way to the client. Nobody foresees which one.
    clock_.Advance(i % 4 == 0 ? kDeadlineNs - kNsPerMs / 10 : kBatchNs);
    Complete(worker_, *job);
  }
  BeAsFastAsEver();
  EXPECT_FALSE(IsLetInBehindOne());
}

TEST_F(PoolMarginTest, AnswersInTimeMakeForecastsTrustedAgain) {
  MissDeadlines();
  pool_->Tick();
  EXPECT_FALSE(IsLetInBehindOne());
  for (int i = 0; i < 300 * 20; ++i) {
    Submit(1, 1, kDeadlineNs);  // more than half of the time passes
    clock_.Advance(kBatchNs / 2);
    RunBatch(worker_);
  }
  BeAsFastAsEver();
  EXPECT_TRUE(IsLetInBehindOne());
}

TEST_F(PoolForecastTest, AFreeLaneWaitsForClientsThatComeBack) {
  FakeWorker* worker = MakePoolOfOne();
  // Two clients take turns: one runs while the other waits.
  Submit(1);
  Submit(2);
  for (int i = 0; i < 40; ++i) {
    const std::optional<FakeWorker::Job> job = worker->Take();
    if (job.has_value()) {
      clock_.Advance(kBatchNs);
      Complete(worker, *job);
    }
    clock_.Advance(50 * kNsPerUs);
    const uint32_t back = job.has_value() ? job->row_count : 0;
    for (uint32_t client = 0; client < back; ++client) Submit(1);
    if (back == 2) break;
    pool_->Tick();
  }
  const std::optional<FakeWorker::Job> both = worker->Take();
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->row_count, 2u);
  worker->Complete(*both);
  Serve(worker);
}

// Clients without deadlines send four rows while a batch of four runs, and one more now and then.
TEST_F(PoolForecastTest, AQueueThatDoesNotDrainIsCutBackToItsTarget) {
  MakePool({.queue_target_ns = 2 * kBatchNs});
  FakeWorker* worker = AddKnownWorker();
  const auto submit = [this](int64_t patience_ns) {
    FakeCall* call = NewCall(1, 100 * kBatchNs);
    call->request.patience_ns = patience_ns;
    return Enter(call, 1);
  };
  for (int row = 0; row < 16; ++row) EXPECT_EQ(submit(kTimeoutNs)->endings(), 0);
  FakeCall* refused = nullptr;
  for (int batch = 0; batch < 40 && refused == nullptr; ++batch) {
    RunBatch(worker);
    for (int row = 0; row < 5; ++row) {
      FakeCall* call = submit(kTimeoutNs);
      if (call->endings() > 0) refused = call;
    }
  }
  ASSERT_NE(refused, nullptr);
  EXPECT_TRUE(absl::IsResourceExhausted(refused->status()));
  EXPECT_EQ(refused->status().message(), "the queue does not drain: queue.target is exceeded");
  EXPECT_TRUE(RetryAfterNs(refused->status()).has_value());
  EXPECT_EQ(submit(0)->endings(), 0) << "the client gave a deadline, which is far";
  Serve(worker);
  EXPECT_EQ(submit(kTimeoutNs)->endings(), 0) << "the lane is free";
  Serve(worker);
}

TEST_F(PoolForecastTest, ABatchThatFailedTeachesNothing) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  clock_.Advance(kBatchNs);
  worker->CompleteWith(*worker->Take(), BatchOutcome::kFailed, "the model failed");
  Drain();
  Submit(1);
  FakeCall* call = Submit(2, 1, kNsPerMs);
  EXPECT_EQ(call->endings(), 0) << "nothing is known";
  Serve(worker);
}

}  // namespace
}  // namespace mpsd

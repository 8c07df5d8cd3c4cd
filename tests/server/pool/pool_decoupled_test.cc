// Requests of a decoupled model: a chain of batches each, one for an answer.
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

constexpr char kCancelled[] = "the client cancelled the call";

// One output of two floats, which is the one input; every request has as many answers as the test
// gives.
class PoolDecoupled : public PoolFixture {
 protected:
  PoolDecoupled() {
    model_.spec.max_batch_size = 0;
    model_.spec.decoupled = true;
  }

  // The worker answers the batch that it gets, which must be asked for that answer.
  void AnswerNext(FakeWorker* worker, uint32_t index) {
    const std::optional<FakeWorker::Job> job = worker->Take();
    ASSERT_TRUE(job.has_value());
    EXPECT_EQ(job->answer_index, index);
    worker->Answer(*job);
    Drain();
  }

  void EndNext(FakeWorker* worker) {
    const std::optional<FakeWorker::Job> job = worker->Take();
    ASSERT_TRUE(job.has_value());
    worker->CompleteWith(*job, BatchOutcome::kNoAnswer, "");
    Drain();
  }

  // The client has taken the answer before, and there is no other.
  void EndAfter(FakeCall* call, FakeWorker* worker) {
    pool_->Continue(&call->request);
    EndNext(worker);
  }

  // A worker and a call that has its first answer.
  std::pair<FakeWorker*, FakeCall*> MakeOneAnswer() {
    FakeWorker* worker = MakePoolOfOne();
    FakeCall* call = Submit(1);
    AnswerNext(worker, 0);
    return {worker, call};
  }

  // The same, and the client has taken it.
  std::pair<FakeWorker*, FakeCall*> TakeOneAnswer() {
    const auto made = MakeOneAnswer();
    pool_->Continue(&made.second->request);
    return made;
  }

  InferenceStatistics::Totals Statistics() const { return model_.metrics.inference.Read(); }
};

TEST_F(PoolDecoupled, ARequestHasOneAnswerAfterTheOther) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(7);
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(10);
    AnswerNext(worker, static_cast<uint32_t>(i));
    EXPECT_EQ(call->sink.parts(), i + 1);
    EXPECT_EQ(call->Answer(), Rows(7));
    EXPECT_EQ(call->endings(), 0);
    EXPECT_EQ(pool_->inside(), 1);
    pool_->Continue(&call->request);
  }
  EndNext(worker);
  EXPECT_TRUE(call->sink.ended());
  EXPECT_EQ(call->sink.parts(), 5);
}

TEST_F(PoolDecoupled, TheNextAnswerIsNotMadeBeforeTheOneBeforeIsTaken) {
  const auto [worker, call] = MakeOneAnswer();
  pool_->Tick();
  Drain();
  EXPECT_FALSE(worker->Take().has_value());
  FakeCall* other = Submit(2);
  AnswerNext(worker, 0);  // the lane is free for others
  EXPECT_EQ(other->sink.parts(), 1);
  for (FakeCall* one : {call, other}) {
    pool_->Continue(&one->request);
    EndNext(worker);
    EXPECT_TRUE(one->sink.ended());
  }
}

// The client gave no deadline: each answer may take as long as the default says.
TEST_F(PoolDecoupled, ADefaultDeadlineBeginsAnewWithEachAnswer) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  call->request.patience_ns = kNsPerSecond;
  for (uint32_t i = 0; i < 5; ++i) {
    clock_.Advance(kNsPerSecond - 1);
    AnswerNext(worker, i);
    TickAfter(kNsPerSecond - 1);
    EXPECT_EQ(call->endings(), 0) << "the client takes its answer " << i;
    pool_->Continue(&call->request);
  }
  TickAfter(kNsPerSecond - 1);
  EXPECT_EQ(call->endings(), 0);
  TickAfter(1);
  EXPECT_EQ(call->status(), absl::DeadlineExceededError("Request timeout expired"));
  EndNext(worker);
}

TEST_F(PoolDecoupled, ADeadlineOfTheClientIsNotMovedByAnswers) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  const int64_t deadline_ns = call->request.deadline_ns;
  AnswerNext(worker, 0);
  clock_.Advance(10);
  pool_->Continue(&call->request);
  EXPECT_EQ(call->request.deadline_ns, deadline_ns);
  EndNext(worker);
}

TEST_F(PoolDecoupled, ARequestMayHaveNoAnswer) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  EndNext(worker);
  EXPECT_TRUE(call->sink.ended());
  EXPECT_EQ(call->sink.parts(), 0);
}

TEST_F(PoolDecoupled, ItIsCountedOnce) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  for (uint32_t i = 0; i < 3; ++i) {
    AnswerNext(worker, i);
    EXPECT_EQ(Statistics().execution_count, 1u);
    EXPECT_EQ(Statistics().success.count, 0u);
    pool_->Continue(&call->request);
  }
  EndNext(worker);
  const InferenceStatistics::Totals totals = Statistics();
  EXPECT_EQ(totals.execution_count, 1u);
  EXPECT_EQ(totals.inference_count, 1u);
  EXPECT_EQ(totals.success.count, 1u);
  EXPECT_EQ(totals.compute_infer.count, 1u);
  EXPECT_EQ(totals.by_batch_size.at(1).compute_infer.count, 1u);
  EXPECT_EQ(model_.metrics.batches, 1u);
  EXPECT_EQ(pool_->workers()->Progress(0).requests, 1u);
}

TEST_F(PoolDecoupled, AnErrorEndsIt) {
  const auto [worker, call] = TakeOneAnswer();
  worker->CompleteWith(*worker->Take(), BatchOutcome::kFailed, "it threw");
  Drain();
  EXPECT_EQ(call->status(), absl::InternalError("it threw"));
  EXPECT_EQ(Statistics().execution_count, 1u);
}

TEST_F(PoolDecoupled, AnAnswerThatNeedsALargerLeaseIsAskedForAgain) {
  model_.spec.outputs[0].dims = {-1};
  const auto [worker, call] = TakeOneAnswer();
  worker->CompleteWith(*worker->Take(), BatchOutcome::kOutputTooLarge, "", 100'000);
  Drain();
  AnswerNext(worker, 1);
  EXPECT_EQ(call->sink.parts(), 2);
  EndAfter(call, worker);
}

TEST_F(PoolDecoupled, ALostWorkerBeforeTheFirstAnswerCostsNothing) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  ASSERT_TRUE(worker->Take().has_value());
  Kill(0, WorkerEnd::kKilled);
  worker = AddWorker();
  AnswerNext(worker, 0);
  EndAfter(call, worker);
  EXPECT_TRUE(call->sink.ended());
}

TEST_F(PoolDecoupled, ALostWorkerAfterTheFirstAnswerEndsIt) {
  const auto [worker, call] = TakeOneAnswer();
  ASSERT_TRUE(worker->Take().has_value());
  Kill(0, WorkerEnd::kKilled);
  EXPECT_EQ(call->status(), absl::UnavailableError("worker lost"));
  FakeWorker* next = AddWorker();
  EXPECT_FALSE(next->Take().has_value());
  EXPECT_EQ(model_.metrics.dispatched_again, 0u);
}

TEST_F(PoolDecoupled, WhoCrashesItsSecondWorkerIsToldSo) {
  MakePool();
  for (const absl::Status& told :
       {absl::UnavailableError("worker lost"), absl::InternalError("request crashed its worker")}) {
    FakeWorker* worker = AddWorker();
    FakeCall* call = Submit(1);
    AnswerNext(worker, 0);
    pool_->Continue(&call->request);
    ASSERT_TRUE(worker->Take().has_value());
    Kill(0, WorkerEnd::kCrashed);
    EXPECT_EQ(call->status(), told);
  }
}

TEST_F(PoolDecoupled, BetweenTwoAnswersItNeedsNoWorker) {
  FakeCall* call = MakeOneAnswer().second;
  Kill(0, WorkerEnd::kKilled);
  pool_->Continue(&call->request);
  FakeWorker* next = AddWorker();
  AnswerNext(next, 1);
  EndAfter(call, next);
  EXPECT_TRUE(call->sink.ended());
}

TEST_F(PoolDecoupled, CancelledWhileAnAnswerIsOnItsWay) {
  const auto [worker, call] = MakeOneAnswer();
  pool_->Cancel(&call->request);
  pool_->Cancel(&call->request);
  EXPECT_EQ(call->endings(), 0) << "somebody still writes the answer";
  pool_->Continue(&call->request);
  EXPECT_EQ(call->status(), absl::CancelledError(kCancelled));
  EXPECT_FALSE(worker->Take().has_value());
}

TEST_F(PoolDecoupled, CancelledWhileAnAnswerIsMade) {
  const auto [worker, call] = TakeOneAnswer();
  const std::optional<FakeWorker::Job> job = worker->Take();
  pool_->Cancel(&call->request);
  EXPECT_EQ(call->status(), absl::CancelledError(kCancelled));
  EXPECT_TRUE(worker->Cancelled(*job));
  worker->Answer(*job);
  Drain();
  EXPECT_EQ(call->sink.parts(), 1);
  EXPECT_FALSE(worker->Take().has_value());
}

TEST_F(PoolDecoupled, PastItsDeadlineItsRowsAreFreeThoughItsAnswerIsNotTaken) {
  FakeCall* call = MakeOneAnswer().second;
  TickAfter(kTimeoutNs);
  EXPECT_EQ(call->endings(), 0);
  // A request without rows lets its slab go: a segment that is never idle is never retired.
  pool_->memory()->Add(OwnedSegment::Create(SegmentKind::kSlabs, 1 << 20, 0).value(), 1);
  pool_->memory()->RetireIdle(1);
  pool_->Tick();
  EXPECT_EQ(model_.metrics.input_slabs_leased, 0);
  pool_->Continue(&call->request);
  EXPECT_EQ(call->status(), absl::DeadlineExceededError("Request timeout expired"));
}

TEST_F(PoolDecoupled, AStopEndsItWhenItsAnswerIsTaken) {
  FakeCall* call = MakeOneAnswer().second;
  pool_->FailAll("Server exiting");
  EXPECT_EQ(pool_->inside(), 1);
  pool_->Continue(&call->request);
  EXPECT_EQ(call->status(), absl::UnavailableError("Server exiting"));
}

TEST_F(PoolDecoupled, AWorkerThatAnswersAfterTheEndIsCondemned) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  const std::optional<FakeWorker::Job> job = worker->Take();
  worker->CompleteWith(*job, BatchOutcome::kNoAnswer, "");
  Drain();
  EXPECT_TRUE(call->sink.ended());
  FakeCall* other = Submit(2);
  const std::optional<FakeWorker::Job> next = worker->Take();
  worker->report(0)->records[next->slot].batch_id = job->batch_id;
  worker->report(0)->records[next->slot].outcome = BatchOutcome::kAnswer;
  worker->Publish(*next);
  Drain();
  EXPECT_EQ(keeper_.condemned().size(), 1u);
  EXPECT_EQ(other->endings(), 0);
  Kill(0, WorkerEnd::kKilled);
  worker = AddWorker();
  EndNext(worker);
}

TEST_F(PoolDecoupled, AWorkerThatAnswersTwiceIsCondemned) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  FakeCall* other = Submit(2);
  const std::optional<FakeWorker::Job> job = worker->Take();
  worker->Answer(*job);
  Drain();
  ASSERT_TRUE(worker->Take().has_value()) << "the other's, in the same place or not";
  worker->Answer(*job);
  Drain();
  EXPECT_EQ(keeper_.condemned().size(), 1u);
  EXPECT_EQ(call->sink.parts(), 1);
  EXPECT_EQ(other->sink.parts(), 0);
  Kill(0, WorkerEnd::kKilled);
  worker = AddWorker();
  EndAfter(call, worker);
  EndNext(worker);
}

}  // namespace
}  // namespace mpsd

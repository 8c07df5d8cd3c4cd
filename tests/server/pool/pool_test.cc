#include "server/pool/pool.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "proto/shm/doorbell.h"
#include "server/pool/schedule/replica_forecast.h"
#include "server/pool/schedule/saturation.h"
#include "server/request/pool_watcher.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

using PoolTest = PoolFixture;
using Job = FakeWorker::Job;

TEST_F(PoolTest, CarriesARequestToAWorkerAndBack) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(7, 2);
  EXPECT_EQ(pool_->inside(), 1);
  const std::optional<Job> job = worker->Take();
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->row_count, 2u);
  EXPECT_TRUE(pool_->busy());
  worker->Complete(*job);
  EXPECT_EQ(call->endings(), 0);
  EXPECT_EQ(Drain(), 1u);
  ASSERT_EQ(call->endings(), 1);
  EXPECT_EQ(call->Answer(), Rows(7, 2));
  EXPECT_EQ(call->sink.outputs()[0].name, "OUT");
  EXPECT_EQ(call->sink.outputs()[0].dims, (Dims{2, 2}));
}

TEST_F(PoolTest, RequestsWaitForTheFirstWorker) {
  FakeCall* call = Submit(1);
  EXPECT_FALSE(model_.ready);
  FakeWorker* worker = AddWorker();
  EXPECT_TRUE(model_.ready);
  Serve(worker);
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolTest, WhatWaitsWhileTheLaneIsBusyBecomesOneBatch) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* first = Submit(1);
  const std::optional<Job> job = worker->Take();
  for (float value = 2; value < 6; ++value) Submit(value);
  EXPECT_FALSE(worker->Take().has_value());
  worker->Complete(*job);
  Drain();
  EXPECT_EQ(first->Answer(), Rows(1));
  const std::optional<Job> second = worker->Take();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->row_count, 4u);
  EXPECT_EQ(second->run_count, 1u);
  worker->Complete(*second);
  Drain();
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(calls_[i].Answer(), Rows(static_cast<float>(i + 1)));
}

TEST_F(PoolTest, ALaneOfDepthTwoGetsASecondBatch) {
  FakeWorker* worker = MakePoolOfOne({.lane_depth = 2});
  Submit(0);
  for (float value = 1; value < 3; ++value) Submit(value, 4);
  EXPECT_TRUE(worker->Take().has_value());
  const std::optional<Job> second = worker->Take();
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(worker->Take().has_value());
  Kill(0, WorkerEnd::kKilled);
  Serve(AddWorker());
}

TEST_F(PoolTest, ABatchThatMayGrowIsNotBoundToABusyLane) {
  FakeWorker* worker = MakePoolOfOne({.lane_depth = 2});
  Submit(1);
  Submit(2);
  EXPECT_TRUE(worker->Take().has_value());
  EXPECT_FALSE(worker->Take().has_value());
  Submit(3, 3);
  EXPECT_TRUE(worker->Take().has_value()) << "it is full now";
  Kill(0, WorkerEnd::kKilled);
  Serve(AddWorker());
}

TEST_F(PoolTest, LanesAreFilledBeforeTheyAreQueuedOn) {
  MakePool({.lane_depth = 2});
  FakeWorker* worker = AddWorker(0, 2);
  FakeWorker* other = AddWorker(1, 1);
  for (float value = 0; value < 3; ++value) Submit(value);
  EXPECT_EQ(worker->mailbox(0).submit_tail.load(), 1u);
  EXPECT_EQ(worker->mailbox(1).submit_tail.load(), 1u);
  EXPECT_EQ(other->mailbox(0).submit_tail.load(), 1u);
  Serve(worker);
  Serve(other);
}

TEST_F(PoolTest, AParkedLaneIsRungAndABusyOneIsLeftAlone) {
  FakeWorker* worker = MakePoolOfOne({.lane_depth = 2});
  Submit(1);
  EXPECT_EQ(worker->mailbox(0).sequence.load(), 0u);
  worker->report(0)->parked.store(1);
  Submit(2, 4);
  EXPECT_EQ(worker->mailbox(0).sequence.load(), 1u);
  Serve(worker);
}

TEST_F(PoolTest, AParkedLaneWakesForItsBatch) {
  FakeWorker* worker = MakePoolOfOne();
  LaneSleep sleep(&worker->mailbox(0).sequence, &worker->report(0)->parked);
  bool woken = false;
  std::thread lane([&] {
    const auto nothing = [] { return false; };
    woken = sleep.Sleep(nothing, 10 * kNsPerSecond);
  });
  while (worker->report(0)->parked.load() == 0) std::this_thread::yield();
  Submit(1);
  lane.join();
  EXPECT_TRUE(woken);
  Serve(worker);
}

TEST_F(PoolTest, ParkingTellsEveryWorkerToRing) {
  FakeWorker* worker = MakePoolOfOne();
  pool_->SetParked(true);
  EXPECT_EQ(worker->mailbox_page().front_parked.load(), 1u);
  pool_->SetParked(false);
  EXPECT_EQ(worker->mailbox_page().front_parked.load(), 0u);
}

TEST_F(PoolTest, AHeldQueueWaitsForSoManyOnce) {
  FakeWorker* worker = MakePoolOfOne({.held_requests = 3});
  Submit(1);
  FakeCall* late = Submit(2, 1, kNsPerMs);
  EXPECT_FALSE(worker->Take().has_value());
  TickAfter(kNsPerMs);
  EXPECT_EQ(late->status().code(), absl::StatusCode::kDeadlineExceeded);
  Submit(3);
  EXPECT_FALSE(worker->Take().has_value()) << "one of the three has left";
  FakeCall* third = Submit(4);
  Serve(worker);
  EXPECT_EQ(third->Answer(), Rows(4));
  FakeCall* next = Submit(5);
  Serve(worker);
  EXPECT_EQ(next->Answer(), Rows(5)) << "the queue is held no more";
}

TEST_F(PoolTest, QueueFullByCount) {
  MakePool({.queue_requests = {2}});
  Submit(1);
  Submit(2);
  const FakeCall* refused = Submit(3);
  EXPECT_TRUE(absl::IsResourceExhausted(refused->status()));
  EXPECT_EQ(refused->status().message(), "Exceeds maximum queue size");
  EXPECT_EQ(pool_->inside(), 2);
  Serve(AddWorker());
  EXPECT_EQ(Submit(4)->endings(), 0);
  Serve(workers_[0].side.get());
}

TEST_F(PoolTest, QueueFullByBytes) {
  PoolOptions options;
  options.queue_bytes = 24;  // three rows
  MakePool(options);
  Submit(1, 2);
  const FakeCall* refused = Submit(2, 2);
  EXPECT_TRUE(absl::IsResourceExhausted(refused->status()));
  EXPECT_EQ(refused->status().message(), "Exceeds maximum queue size");
  EXPECT_EQ(Submit(3, 1)->endings(), 0);
  Serve(AddWorker());
}

TEST_F(PoolTest, ReservedRequestsCountAsQueued) {
  MakePool({.queue_requests = {1}});
  FakeCall* slow = NewCall();
  RowTargets targets;
  ASSERT_TRUE(pool_->Reserve(&slow->request, &targets).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Submit(1)->status()));
  slow->Fill(targets, 5);
  pool_->Commit(&slow->request);
  Serve(AddWorker());
  EXPECT_EQ(slow->Answer(), Rows(5));
}

// A request that cannot wait for memory, for nobody would fill its rows.
TEST_F(PoolTest, QueueFullWhenTheSlabsAreFull) {
  model_.spec.inputs[0].dims = model_.spec.outputs[0].dims = {1 << 14};  // 64 KiB a row
  const uint64_t page = platform::PageBytes();
  MakePool({}, (1 << 20) + page);  // one slab of 16 rows
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Submit(1, 4)->endings(), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(Submit(2)->status()));
  Serve(AddWorker());
  EXPECT_EQ(Submit(3)->endings(), 0);
  Serve(workers_[0].side.get());
}

TEST_F(PoolTest, CancelWhileQueued) {
  FakeCall* call = Submit(1);
  FakeCall* other = Submit(2);
  pool_->Cancel(&call->request);
  EXPECT_EQ(call->status().code(), absl::StatusCode::kCancelled);
  pool_->Cancel(&call->request);
  EXPECT_EQ(call->endings(), 1);
  FakeWorker* worker = AddWorker();
  const std::optional<Job> job = worker->Take();
  EXPECT_EQ(job->row_count, 1u);
  worker->Complete(*job);
  Drain();
  EXPECT_EQ(other->Answer(), Rows(2));
}

TEST_F(PoolTest, CancelWhileRunningTellsTheLaneOnceNobodyWaits) {
  Submit(1);
  Submit(2);
  FakeWorker* worker = AddWorker();
  const std::optional<Job> job = worker->Take();
  ASSERT_EQ(job->row_count, 2u);
  pool_->Cancel(&calls_[0].request);
  EXPECT_EQ(calls_[0].status().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(worker->Cancelled(*job));
  pool_->Cancel(&calls_[1].request);
  EXPECT_TRUE(worker->Cancelled(*job));
  EXPECT_EQ(pool_->inside(), 0);
  EXPECT_TRUE(pool_->busy());
  worker->CompleteWith(*job, BatchOutcome::kSkipped, "");
  EXPECT_EQ(Drain(), 1u);
  Submit(3);
  const std::optional<Job> next = worker->Take();
  EXPECT_EQ(next->slot, job->slot);
  EXPECT_FALSE(worker->Cancelled(*next)) << "the slot's next batch is awaited";
  worker->Complete(*next);
  Drain();
}

TEST_F(PoolTest, CancelAfterTheAnswerDoesNothing) {
  FakeCall* call = Submit(1);
  Serve(AddWorker());
  pool_->Cancel(&call->request);
  EXPECT_EQ(call->endings(), 1);
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolTest, DeadlineWhileQueued) {
  FakeCall* call = Submit(1, 1, kNsPerMs);
  pool_->Tick();
  EXPECT_EQ(call->endings(), 0);
  TickAfter(kNsPerMs);
  EXPECT_EQ(call->status(), absl::DeadlineExceededError("Request timeout expired"));
}

TEST_F(PoolTest, ARequestThatExpiredInTheQueueReachesNoLane) {
  FakeCall* call = Submit(1, 1, kNsPerMs);
  clock_.Advance(kNsPerMs);
  FakeWorker* worker = AddWorker();
  EXPECT_EQ(call->status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(worker->Take().has_value());
}

TEST_F(PoolTest, DeadlineWhileRunningAnswersAndKeepsTheRowsUntilTheBatchEnds) {
  model_.spec.max_batch_size = 0;  // a slab a request
  MakePool({}, platform::PageBytes());
  FakeCall* call = Submit(1, 1, kNsPerMs);
  FakeWorker* worker = AddWorker();
  const std::optional<Job> job = worker->Take();
  TickAfter(kNsPerMs);
  EXPECT_EQ(call->status(), absl::DeadlineExceededError("Request timeout expired"));
  EXPECT_TRUE(worker->Cancelled(*job));
  // Its slab holds its bytes still: of the 62 that fit in a page one is missing.
  const auto slabs = static_cast<int>(platform::PageBytes() / 64 - 3);
  for (int i = 0; i < slabs; ++i) EXPECT_EQ(Submit(2)->endings(), 0) << i;
  EXPECT_TRUE(absl::IsResourceExhausted(Submit(2)->status()));
  worker->Complete(*job);
  Drain();
  EXPECT_EQ(Submit(3)->endings(), 0);
  EXPECT_EQ(call->endings(), 1);
  Serve(worker);
}

TEST_F(PoolTest, AnAbandonedBatchWaitsForNobodyWhenItsWorkerDies) {
  FakeCall* call = Submit(1, 1, kNsPerMs);
  AddWorker();
  TickAfter(kNsPerMs);
  Kill(0);
  EXPECT_EQ(call->endings(), 1);
  EXPECT_FALSE(AddWorker()->Take().has_value());
}

TEST_F(PoolTest, ALaneWaitsForCompanyAtMostTheConfiguredDelay) {
  PoolOptions options;
  options.max_delay_ns = 5 * kNsPerMs;
  FakeWorker* worker = MakePoolOfOne(options);
  keeper_.on_wake = [this](int64_t) { pool_->workers()->Progress(0); };  // takes the pool's mutex
  Submit(1);
  EXPECT_FALSE(worker->Take().has_value());
  EXPECT_EQ(keeper_.wake_by_ns(), clock_.NowNs() + options.max_delay_ns);
  TickAfter(options.max_delay_ns);
  const std::optional<Job> job = worker->Take();
  ASSERT_TRUE(job.has_value());
  worker->Complete(*job);
  for (float value = 2; value < 6; ++value) Submit(value);
  Drain();
  EXPECT_EQ(worker->Take()->row_count, 4u) << "a full batch waits for nobody";
  Kill(0, WorkerEnd::kKilled);
  clock_.Advance(options.max_delay_ns);
  Serve(AddWorker());
}

TEST_F(PoolTest, FailAllEndsWhatIsQueuedAndWhatRuns) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  const std::optional<Job> job = worker->Take();
  Submit(2);
  pool_->FailAll("Server exiting");
  for (const FakeCall& call : calls_) {
    EXPECT_EQ(call.status(), absl::UnavailableError("Server exiting"));
  }
  EXPECT_EQ(pool_->inside(), 0);
  worker->Complete(*job);
  Drain();
}

TEST_F(PoolTest, CompletionsThatTheBellMissedAreCounted) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  worker->Complete(*worker->Take());
  pool_->NoteAnnounced();
  EXPECT_EQ(pool_->Drain(/*after_timeout=*/true), 1u);
  EXPECT_EQ(model_.metrics.timeout_wakeups, 1u);
}

TEST_F(PoolTest, WhatLanesCountAddsUpAndNeverGoesDown) {
  FakeWorker* worker = MakePoolOfOne();
  worker->report(0)->keep_warm_runs.store(2);
  worker->report(0)->memory_trims.store(3);
  pool_->Tick();
  worker->report(0)->keep_warm_runs.store(1);
  pool_->Tick();
  worker->report(0)->keep_warm_runs.store(5);
  pool_->Tick();
  EXPECT_EQ(model_.metrics.keep_warm_runs, 5u);
  EXPECT_EQ(model_.metrics.memory_trims, 3u);
  EXPECT_EQ(model_.metrics.batches, 0u);
}

// The thread that woke by time-out looks for what comes now, so that nobody needs to ring.
TEST_F(PoolTest, ACompletionAfterTheTimeOutIsNotMissed) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  pool_->NoteAnnounced();
  worker->Complete(*worker->Take());
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(pool_->Drain(/*after_timeout=*/true), 1u);
  EXPECT_EQ(model_.metrics.timeout_wakeups, 0u);
}

TEST_F(PoolTest, ACompletionWhoseLaneHasNotRungYetIsNotMissed) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  worker->Complete(*worker->Take());
  worker->report(0)->announced.store(0);
  pool_->NoteAnnounced();
  worker->report(0)->announced.store(1);
  EXPECT_EQ(pool_->Drain(/*after_timeout=*/true), 1u);
  EXPECT_EQ(model_.metrics.timeout_wakeups, 0u);
}

TEST_F(PoolTest, NoSlabIsLeasedAtRestWhereNoneStaysOpen) {
  model_.spec.max_batch_size = 0;
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  EXPECT_EQ(model_.metrics.input_slabs_leased, 1);
  Serve(worker);
  EXPECT_EQ(model_.metrics.input_slabs_leased, 0);
  EXPECT_EQ(calls_[0].sink.outputs()[0].dims, (Dims{2}));
}

TEST_F(PoolTest, TheModelFailedIsTheAnswerOfEachRequestOfTheBatch) {
  Submit(1);
  Submit(2);
  FakeWorker* worker = AddWorker();
  worker->CompleteWith(*worker->Take(), BatchOutcome::kFailed, "PyTorch execute failure: no");
  Drain();
  for (const FakeCall& call : calls_) {
    EXPECT_EQ(call.status(), absl::InternalError("PyTorch execute failure: no"));
  }
}

TEST_F(PoolTest, AFailedRowFailsItsRequestAlone) {
  Submit(1, 2);
  Submit(2);
  FakeWorker* worker = AddWorker();
  const std::optional<Job> job = worker->Take();
  CompletionRecord* record = worker->WriteRecord(*job);
  record->row_failed[1] = 1;
  record->text_bytes = 2;
  std::memcpy(record->text, "no", 2);
  worker->Publish(*job);
  Drain();
  EXPECT_EQ(calls_[0].status(), absl::InternalError("no"));
  EXPECT_EQ(calls_[1].Answer(), Rows(2));
}

TEST_F(PoolTest, AQuiescedWorkerFinishesWhatItHasAndGetsNoMore) {
  FakeWorker* old = AddWorker(0);
  FakeCall* inside = Submit(1);
  const std::optional<FakeWorker::Job> job = old->Take();
  ASSERT_TRUE(job.has_value());
  pool_->workers()->Quiesce(0);
  FakeCall* waits = Submit(2);
  EXPECT_FALSE(old->Take().has_value());
  FakeWorker* fresh = AddWorker(1);
  Serve(fresh);
  EXPECT_EQ(waits->Answer(), Rows(2));
  EXPECT_EQ(pool_->workers()->Progress(0).inflight, 1u);
  old->Complete(*job);
  Drain();
  EXPECT_EQ(inside->Answer(), Rows(1));
  EXPECT_EQ(pool_->workers()->Progress(0).inflight, 0u);
  EXPECT_FALSE(old->Take().has_value());
}

TEST_F(PoolTest, KnowsWhatAWorkerHasDone) {
  MakePool();
  EXPECT_TRUE(pool_->workers()->Progress(0).lanes.empty()) << "it is not attached";
  FakeWorker* worker = AddWorker(0, 2);
  worker->report(1)->heartbeat.store(7);
  Submit(1);
  WorkerProgress progress = pool_->workers()->Progress(0);
  ASSERT_EQ(progress.lanes.size(), 2u);
  EXPECT_EQ(progress.inflight, 1u);
  EXPECT_EQ(progress.lanes[0].inflight + progress.lanes[1].inflight, 1u);
  EXPECT_EQ(progress.lanes[1].heartbeat, 7u);
  Serve(worker);
  progress = pool_->workers()->Progress(0);
  EXPECT_EQ(progress.lanes[0].completed + progress.lanes[1].completed, 1u);
  EXPECT_EQ(progress.requests, 1u);
}

TEST_F(PoolTest, KnowsWhetherAllRequestsOfAWorkerWouldRunAgain) {
  FakeWorker* worker = AddWorker(0, 2);
  EXPECT_FALSE(pool_->workers()->Progress(0).can_move) << "there is none";
  Submit(1);
  FakeCall* other = Submit(2);
  EXPECT_TRUE(pool_->workers()->Progress(0).can_move);
  other->request.dispatches = kMaxDispatches - 1;
  EXPECT_FALSE(pool_->workers()->Progress(0).can_move) << "it would be lost";
  pool_->Cancel(&other->request);
  EXPECT_TRUE(pool_->workers()->Progress(0).can_move);
  Serve(worker);
}

TEST_F(PoolTest, ItsSaturationIsWhatRequestsWaitOfTheirTime) {
  Submit(1);
  pool_->Tick();
  EXPECT_EQ(model_.metrics.inside_requests, 1);
  EXPECT_EQ(model_.metrics.saturation_permille, 0) << "the queue was empty";
  clock_.Advance(kTimeoutNs / 4);
  FakeWorker* worker = AddWorker();
  pool_->Tick();
  EXPECT_EQ(model_.metrics.saturation_permille, 250);
  Serve(worker);
  TickAfter(Saturation::kHalfNs);
  EXPECT_EQ(model_.metrics.saturation_permille, 125);
  EXPECT_EQ(model_.metrics.inside_requests, 0);
}

TEST_F(PoolTest, ItsSaturationIsHowFullTheQueueIs) {
  MakePool({.queue_requests = {4}});
  for (int i = 0; i < 3; ++i) Submit(1);
  pool_->Tick();
  EXPECT_EQ(model_.metrics.saturation_permille, 500) << "the third one found two";
  for (int i = 0; i < 2; ++i) Submit(1);
  pool_->Tick();
  EXPECT_EQ(model_.metrics.saturation_permille, 1000) << "one was refused";
  Serve(AddWorker());
}

TEST_F(PoolTest, WithAnSloItsOfferedRequestsAreHostsOnceABatchHasRun) {
  FakeWorker* worker = MakePoolOfOne({.slo_ns = 100 * kNsPerMs});
  Submit(1);
  pool_->Tick();
  EXPECT_EQ(model_.metrics.replicas_known, 0);
  clock_.Advance(20 * kNsPerMs);
  Serve(worker);
  pool_->Tick();
  EXPECT_EQ(model_.metrics.replicas_known, 1);
  EXPECT_GT(model_.metrics.replicas_needed_permille, 10);
  TickAfter(20 * ReplicaForecast::kWindowNs);
  EXPECT_EQ(model_.metrics.replicas_needed_permille, 0);
  pool_.reset();
  EXPECT_EQ(model_.metrics.replicas_known, 0);
}

TEST_F(PoolTest, ARequestThatExpiresInTheQueueIsSaturation) {
  Submit(1);
  TickAfter(kTimeoutNs);
  EXPECT_EQ(model_.metrics.saturation_permille, 1000);
}

TEST_F(PoolTest, NobodyWaitsForAWorkerThatComesTooLate) {
  FakeCall* impatient = Submit(1, 1, kNsPerSecond);
  FakeCall* patient = Submit(2, 1, 10 * kNsPerSecond);
  pool_->workers()->ExpectAt(clock_.NowNs() + 5 * kNsPerSecond);
  EXPECT_EQ(impatient->status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(patient->endings(), 0);
  for (const int64_t seconds : {1, 5}) {
    const FakeCall* refused = Submit(3, 1, seconds * kNsPerSecond);
    EXPECT_EQ(refused->status().code(), absl::StatusCode::kUnavailable) << seconds;
  }
  FakeWorker* worker = AddWorker();
  FakeCall* served = Submit(4, 1, kNsPerSecond);
  Serve(worker);
  EXPECT_EQ(patient->Answer(), Rows(2));
  EXPECT_EQ(served->Answer(), Rows(4)) << "while one is attached nothing is expected";
}

TEST_F(PoolTest, ItsWatcherIsToldWhenAWorkerIsExpected) {
  class : public PoolWatcher {
   public:
    void LanesJoined(absl::Span<const uint64_t>) override {}
    void LanesLeft(absl::Span<const uint64_t>) override {}
    void ExpectAt(int64_t when_ns) override { told_ns.push_back(when_ns); }
    void Tick(int64_t) override {}
    void FailAll(const char*) override {}

    std::vector<int64_t> told_ns;
  } watcher;
  MakePool();
  pool_->Watch(&watcher);
  pool_->workers()->ExpectAt(5);
  pool_->workers()->ExpectAt(INT64_MIN);
  EXPECT_EQ(watcher.told_ns, (std::vector<int64_t>{5, INT64_MIN}));
  pool_->Watch(nullptr);
}

TEST_F(PoolTest, AWorkerThatMayComeAtAnyMomentIsWaitedFor) {
  MakePool();
  pool_->workers()->ExpectAt(clock_.NowNs() + 5 * kNsPerSecond);
  pool_->workers()->ExpectAt(INT64_MIN);
  FakeCall* call = Submit(1, 1, kNsPerSecond);
  EXPECT_EQ(call->endings(), 0);
  Serve(AddWorker());
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolTest, AClosedPoolEndsWhatIsInsideAndTakesNothing) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* inside = Submit(1);
  pool_->Close();
  EXPECT_EQ(Submit(2)->status(), absl::AbortedError("the model was replaced"));
  Serve(worker);
  EXPECT_EQ(inside->Answer(), Rows(1));
}

TEST_F(PoolTest, RequestsThatEnterTogetherAreOneBatch) {
  MakePool();
  FakeWorker* const worker = AddWorker();
  std::vector<EnteringRequest> entering(3);
  for (EnteringRequest& each : entering) each.request = &NewCall()->request;
  pool_->ReserveAll(absl::MakeSpan(entering));
  std::vector<Request*> requests;
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(entering[i].status.ok());
    calls_[i].Fill(entering[i].targets, static_cast<float>(i));
    requests.push_back(entering[i].request);
  }
  pool_->Cancel(requests[1]);
  EXPECT_FALSE(worker->Take().has_value());
  pool_->CommitAll(requests);
  pool_->CheckInvariants();
  const std::optional<Job> job = worker->Take();
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->row_count, 2U) << "one has left";
  worker->Complete(*job);
  Drain();
  EXPECT_EQ(calls_[0].Answer(), Rows(0));
  EXPECT_EQ(calls_[1].status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(calls_[2].Answer(), Rows(2));
}

TEST_F(PoolTest, OthersThatEnterFirstMayMakeRoom) {
  MakePool({.queue_requests = {1}});
  FakeWorker* const worker = AddWorker();
  std::vector<EnteringRequest> entering(2);
  for (EnteringRequest& each : entering) each.request = &NewCall()->request;
  pool_->ReserveAll(absl::MakeSpan(entering));
  ASSERT_TRUE(entering[0].status.ok());
  EXPECT_EQ(entering[1].status.code(), absl::StatusCode::kAborted);
  calls_[0].Fill(entering[0].targets, 1);
  pool_->CommitAll({entering[0].request});
  Enter(&calls_[1], 2);
  Serve(worker);
  EXPECT_EQ(calls_[1].Answer(), Rows(2));
}

// The client that is slow, or leaves, holds no batch back.
TEST_F(PoolTest, AnArrivingRequestHoldsNobodyBack) {
  MakePool();
  FakeWorker* const worker = AddWorker();
  FakeCall* const slow = NewCall();
  FakeCall* const leaving = NewCall();
  RowTargets targets[2];
  for (FakeCall* const call : {slow, leaving}) {
    call->request.is_arriving = true;
    ASSERT_TRUE(pool_->Reserve(&call->request, &targets[call == leaving]).ok());
  }
  FakeCall* const other = Submit(3);
  Serve(worker);
  EXPECT_EQ(other->Answer(), Rows(3));
  slow->Fill(targets[0], 5);
  pool_->Commit(&slow->request);
  Serve(worker);
  EXPECT_EQ(slow->Answer(), Rows(5));
  pool_->Cancel(&leaving->request);
  EXPECT_EQ(leaving->endings(), 0);
  pool_->Commit(&leaving->request);
  EXPECT_EQ(leaving->endings(), 1);
}

}  // namespace
}  // namespace mpsd

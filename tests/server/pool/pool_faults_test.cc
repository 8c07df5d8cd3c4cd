// Workers that die, workers that lie, and answers that outlive their worker.
#include <gmock/gmock.h>

#include <cstring>
#include <functional>

#include "server/request/retry_info.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

using PoolFaults = PoolFixture;
using Job = FakeWorker::Job;

TEST_F(PoolFaults, ALostBatchGoesAgainFromWhereItsRowsLie) {
  Submit(1, 2);
  Submit(2);
  FakeWorker* first = AddWorker(0);
  const std::optional<Job> lost = first->Take();
  const RowRun before = first->mailbox(0).records[lost->slot].runs[0];
  Kill(0, WorkerEnd::kKilled);
  FakeWorker* second = AddWorker(0);
  const std::optional<Job> again = second->Take();
  ASSERT_TRUE(again.has_value());
  const RowRun after = second->mailbox(0).records[again->slot].runs[0];
  EXPECT_EQ(std::memcmp(&before, &after, sizeof(before)), 0);
  EXPECT_EQ(again->inputs, lost->inputs);
  EXPECT_NE(again->batch_id, lost->batch_id);
  EXPECT_EQ(model_.metrics.dispatched_again, 2u);
  Complete(second, *again);
  EXPECT_EQ(calls_[0].Answer(), Rows(1, 2));
  EXPECT_EQ(calls_[1].Answer(), Rows(2));
}

TEST_F(PoolFaults, ABatchGoesToAnotherWorkerThatServes) {
  AddWorker(0);
  FakeCall* call = Submit(1);
  FakeWorker* other = AddWorker(1);
  Kill(0, WorkerEnd::kKilled);
  Serve(other);
  EXPECT_EQ(call->Answer(), Rows(1));
  EXPECT_TRUE(model_.ready);
}

TEST_F(PoolFaults, WhatWasCompletedBeforeTheDeathCounts) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  worker->Complete(*worker->Take());
  Kill(0);
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolFaults, ThreeDispatchesAreAllThereAre) {
  FakeCall* call = Submit(1);
  for (uint32_t dispatch = 1; dispatch <= kMaxDispatches; ++dispatch) {
    EXPECT_EQ(call->endings(), 0);
    EXPECT_TRUE(AddWorker()->Take().has_value());
    Kill(0, WorkerEnd::kKilled);
  }
  EXPECT_EQ(call->status(), absl::UnavailableError("worker lost"));
}

TEST_F(PoolFaults, TheSecondCrashWhileAloneIsTheRequestsOwn) {
  FakeCall* call = Submit(1);
  for (int death = 0; death < 2; ++death) {
    EXPECT_EQ(call->endings(), 0) << "one death convicts nobody";
    EXPECT_TRUE(AddWorker()->Take().has_value());
    Kill(0, WorkerEnd::kCrashed);
  }
  EXPECT_EQ(call->status(), absl::InternalError("request crashed its worker"));
}

// For whoever counts the deaths of a model: one bad request is not its fault.
TEST_F(PoolFaults, SaysWhetherADeathWasPutDownToOneRequest) {
  AddWorker(0);
  Submit(1);
  EXPECT_EQ(Kill(7), Conviction::kNone) << "there is no such worker";
  EXPECT_EQ(Kill(0), Conviction::kSuspicion);
  AddWorker(0);
  EXPECT_EQ(Kill(0), Conviction::kContent);
  AddWorker(1);
  Submit(2);
  EXPECT_EQ(Kill(1, WorkerEnd::kKilled), Conviction::kNone);
  Serve(AddWorker(2));
}

TEST_F(PoolFaults, ACrashOfAWorkerWithAnotherBatchIsNoStrike) {
  FakeWorker* worker = AddWorker(0, 2);
  Submit(1);
  Submit(2);
  EXPECT_TRUE(worker->Take(0).has_value());
  EXPECT_TRUE(worker->Take(1).has_value());
  EXPECT_EQ(Kill(0, WorkerEnd::kCrashed), Conviction::kNone);
  Serve(AddWorker());
  EXPECT_EQ(calls_[0].Answer(), Rows(1));
  EXPECT_EQ(calls_[1].Answer(), Rows(2));
}

// The worker dies of the value 666, whoever is in the batch with it.
TEST_F(PoolFaults, BatchMatesOfAPoisonousRequestSucceed) {
  Submit(1);
  FakeCall* poison = Submit(666);
  Submit(3);
  uint32_t deaths = 0;
  FakeWorker* worker = AddWorker();
  while (pool_->inside() > 0) {
    const std::optional<Job> job = worker->Take();
    ASSERT_TRUE(job.has_value());
    const float bad = 666;
    const std::string needle(reinterpret_cast<const char*>(&bad), sizeof(bad));
    if (job->inputs[0].find(needle) != std::string::npos) {
      Kill(0, WorkerEnd::kCrashed);
      ASSERT_LE(++deaths, 2u);
      worker = AddWorker();
    } else {
      Complete(worker, *job);
    }
  }
  EXPECT_EQ(poison->status(), absl::InternalError("request crashed its worker"));
  EXPECT_EQ(calls_[0].Answer(), Rows(1));
  EXPECT_EQ(calls_[2].Answer(), Rows(3));
  EXPECT_EQ(deaths, 2u);
}

TEST_F(PoolFaults, SuspectsRunOneAtATimeInOneWorkerWhileOthersGoOn) {
  Submit(1);
  Submit(2);
  EXPECT_EQ(AddWorker(0)->Take()->row_count, 2u);
  Kill(0, WorkerEnd::kCrashed);
  FakeWorker* kept = AddWorker(0, 2);
  FakeWorker* other = AddWorker(1);
  const std::optional<Job> suspect = kept->Take(0);
  ASSERT_TRUE(suspect.has_value());
  EXPECT_EQ(suspect->row_count, 1u);
  EXPECT_FALSE(kept->Take(1).has_value());
  EXPECT_FALSE(other->Take().has_value()) << "the second suspect waits";
  Submit(3);
  EXPECT_FALSE(kept->Take(1).has_value());
  other->Complete(*other->Take());
  Complete(kept, *suspect);
  EXPECT_EQ(calls_[2].Answer(), Rows(3));
  Complete(kept, *kept->Take(0));
  EXPECT_EQ(calls_[0].Answer(), Rows(1));
  EXPECT_EQ(calls_[1].Answer(), Rows(2));
  Submit(4);
  Submit(5);
  Submit(6);
  EXPECT_TRUE(kept->Take(1).has_value()) << "once the suspects are done the worker is for all";
  Kill(0, WorkerEnd::kKilled);
  Serve(other);
}

TEST_F(PoolFaults, ASuspectMayStillBeCancelledAndExpire) {
  Submit(1);
  Submit(2, 1, 2 * kNsPerSecond);
  EXPECT_TRUE(AddWorker()->Take().has_value());
  Kill(0, WorkerEnd::kCrashed);
  pool_->Cancel(&calls_[0].request);
  EXPECT_EQ(calls_[0].status().code(), absl::StatusCode::kCancelled);
  TickAfter(2 * kNsPerSecond);
  EXPECT_EQ(calls_[1].status().code(), absl::StatusCode::kDeadlineExceeded);
}

// ---- lies ----

// One way to lie, to a batch that the worker took and whose honest record it wrote.
struct RingLieCase {
  const char* name;
  const char* reason;
  std::function<void(FakeWorker*, const Job&, CompletionRecord*)> tell;
};

class PoolLies : public PoolFixture, public testing::WithParamInterface<RingLieCase> {};

TEST_P(PoolLies, CondemnsTheWorkerAndServesTheRequestElsewhere) {
  FakeCall* call = Submit(1);
  FakeWorker* liar = AddWorker(0);
  const std::optional<Job> job = liar->Take();
  GetParam().tell(liar, *job, liar->WriteRecord(*job));
  Drain();
  ASSERT_THAT(keeper_.condemned(), SizeIs(1));
  EXPECT_EQ(keeper_.condemned()[0].model, "m");
  EXPECT_EQ(keeper_.condemned()[0].worker, 0u);
  EXPECT_EQ(keeper_.condemned()[0].epoch, epoch_) << "another incarnation is not to suffer for it";
  EXPECT_THAT(keeper_.condemned()[0].reason, HasSubstr(GetParam().reason));
  EXPECT_EQ(call->endings(), 0);
  Submit(2);
  Drain();
  EXPECT_FALSE(liar->Take().has_value()) << "it gets nothing any more";
  EXPECT_THAT(keeper_.condemned(), SizeIs(1));
  ServeByAnother();
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolFaults, AWorkerWithoutOutputRoomHoldsUpNobody) {
  AddWorker(0);
  FakeWorker* other = AddWorker(1);
  const std::shared_ptr<WorkerLink> link = workers_[0].link;
  OutputLease* all = link->LeaseOutput(link->outputs().bytes / 64 * 64);
  ASSERT_NE(all, nullptr);
  FakeCall* call = Submit(1);
  EXPECT_TRUE(other->Take().has_value());
  all->Unref();
  Kill(1, WorkerEnd::kKilled);
  Serve(workers_[0].side.get());
  EXPECT_EQ(call->Answer(), Rows(1));
}

// The worker that is kept for suspects has no room for outputs; the other serves.
TEST_F(PoolFaults, SuspectsWithoutOutputRoomHinderNobodyElse) {
  MakePool();
  FakeCall* suspects[] = {Submit(1), Submit(2)};
  AddWorker(0);
  Kill(0, WorkerEnd::kCrashed);
  const std::shared_ptr<WorkerLink> full =
      WorkerLink::Create(pool_->workers()->LinkOptions(0, 2, 1)).value();
  OutputLease* all = full->LeaseOutput(full->outputs().bytes / 64 * 64);
  ASSERT_NE(all, nullptr);
  FakeWorker kept(*full, pool_->memory()->Descriptors(), &clock_);
  pool_->workers()->Attach(full);
  epoch_ = 2;
  FakeWorker* other = AddWorker(1);
  FakeCall* call = Submit(3);
  const std::optional<Job> job = other->Take();
  ASSERT_TRUE(job.has_value());
  Complete(other, *job);
  EXPECT_EQ(call->Answer(), Rows(3));
  EXPECT_FALSE(kept.Take().has_value());
  all->Unref();
  Serve(&kept);
  for (FakeCall* suspect : suspects) EXPECT_TRUE(suspect->status().ok());
}

// Whatever a worker says after a lie, and until it is dead, is not believed.
TEST_F(PoolFaults, CompletionsOfACondemnedWorkerAreNotTaken) {
  FakeWorker* liar = AddWorker(0, 2);
  FakeCall* first = Submit(1);
  FakeCall* second = Submit(2);
  const std::optional<Job> lie = liar->Take(0);
  const std::optional<Job> honest = liar->Take(1);
  liar->Publish(lie->lane, kRingEntries);
  Drain();
  ASSERT_THAT(keeper_.condemned(), SizeIs(1));
  liar->Complete(*honest);
  EXPECT_EQ(Drain(), 0u);
  EXPECT_EQ(second->endings(), 0);
  Kill(0, WorkerEnd::kKilled);
  EXPECT_EQ(second->endings(), 0) << "nor when it is gone";
  Serve(AddWorker(0));
  EXPECT_EQ(first->Answer(), Rows(1));
  EXPECT_EQ(second->Answer(), Rows(2));
}

// A worker is dead, an answer is still being read: its segment stays mapped and in the budget.
TEST_F(PoolFaults, ADeadWorkersMemoryIsHeldUntilItsLastAnswerIsRead) {
  MakePool();
  absl::StatusOr<std::shared_ptr<WorkerLink>> link =
      WorkerLink::Create(pool_->workers()->LinkOptions(0, 1, 1));
  auto token = std::make_shared<int>();
  const std::weak_ptr<int> budget = token;
  (*link)->HoldUntilUnmapped(std::move(token));
  FakeWorker side(**link, pool_->memory()->Descriptors(), &clock_);
  pool_->workers()->Attach(*std::move(link));
  FakeCall* call = Submit(1, 1, kTimeoutNs, /*keep_memory=*/true);
  side.Complete(side.Take().value());
  Drain();
  EXPECT_EQ(call->endings(), 1);
  EXPECT_TRUE(call->sink.memory()->TryPin());
  pool_->workers()->Detach(0, WorkerEnd::kKilled);
  pool_->Tick();
  EXPECT_GT(model_.metrics.pinned_output_bytes, 0) << "the gauge shows it";
  EXPECT_FALSE(budget.expired());
  call->sink.DropMemory();
  EXPECT_TRUE(budget.expired());
  pool_->Tick();
  EXPECT_EQ(model_.metrics.pinned_output_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Ring, PoolLies,
    testing::Values(RingLieCase{"TailFarAhead", "tail is out of bounds",
                                [](FakeWorker* worker, const Job& job, CompletionRecord*) {
                                  worker->report(job.lane)->completion_tail.store(kRingEntries + 1);
                                }},
                    RingLieCase{"TailBehind", "tail is out of bounds",
                                [](FakeWorker* worker, const Job& job, CompletionRecord*) {
                                  worker->report(job.lane)->completion_tail.store(0xffff'ffff);
                                }},
                    RingLieCase{"EntryOutOfRange", "a batch that it does not have",
                                [](FakeWorker* worker, const Job& job, CompletionRecord*) {
                                  worker->Publish(job.lane, kRingEntries);
                                }},
                    RingLieCase{"EntryHuge", "a batch that it does not have",
                                [](FakeWorker* worker, const Job& job, CompletionRecord*) {
                                  worker->Publish(job.lane, 0xffff'ffff);
                                }},
                    RingLieCase{"EntryOfAnotherPlace", "a batch that it does not have",
                                [](FakeWorker* worker, const Job& job, CompletionRecord*) {
                                  worker->Publish(job.lane, (job.slot + 1) % kRingEntries);
                                }},
                    RingLieCase{"AnotherBatchesId", "batch id",
                                [](FakeWorker* worker, const Job& job, CompletionRecord* record) {
                                  ++record->batch_id;
                                  worker->Publish(job);
                                }},
                    RingLieCase{"OutputOutsideTheLease", "place of an output",
                                [](FakeWorker* worker, const Job& job, CompletionRecord* record) {
                                  record->outputs[0].offset = 64;
                                  worker->Publish(job);
                                }},
                    RingLieCase{"ZeroedByPunchHole", "batch id",
                                [](FakeWorker* worker, const Job& job, CompletionRecord* record) {
                                  std::memset(static_cast<void*>(record), 0, sizeof(*record));
                                  worker->Publish(job);
                                }}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(PoolFaults, ASubmitHeadOutOfBoundsCondemns) {
  FakeWorker* worker = MakePoolOfOne();
  worker->report(0)->submit_head.store(1);
  FakeCall* call = Submit(1);
  ASSERT_THAT(keeper_.condemned(), SizeIs(1));
  EXPECT_THAT(keeper_.condemned()[0].reason, HasSubstr("head is out of bounds"));
  ServeByAnother();
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolFaults, TheSameCompletionTwiceCondemns) {
  FakeWorker* worker = MakePoolOfOne({.lane_depth = 2});
  FakeCall* first = Submit(1);
  FakeCall* second = Submit(2, 4);
  const std::optional<Job> job = worker->Take();
  worker->Complete(*job);
  worker->Publish(*job);
  Drain();
  EXPECT_EQ(first->Answer(), Rows(1));
  EXPECT_EQ(second->endings(), 0);
  EXPECT_THAT(keeper_.condemned(), SizeIs(1));
  ServeByAnother();
  EXPECT_EQ(second->Answer(), Rows(2, 4));
}

TEST_F(PoolFaults, TheRecordOfTheBatchBeforeCondemns) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  Complete(worker, *worker->Take());
  FakeCall* second = Submit(2);
  worker->Publish(*worker->Take());
  Drain();
  EXPECT_EQ(second->endings(), 0);
  EXPECT_THAT(keeper_.condemned(), SizeIs(1));
  ServeByAnother();
  EXPECT_EQ(second->Answer(), Rows(2));
}

TEST_F(PoolFaults, ALiarsOtherCompletionsCountForNothing) {
  FakeWorker* worker = AddWorker(0, 2);
  FakeCall* first = Submit(1);
  Submit(2);
  const std::optional<Job> lie = worker->Take(0);
  worker->Publish(0, 3);
  Drain();
  worker->Complete(*worker->Take(1));
  Kill(0, WorkerEnd::kCrashed);
  EXPECT_EQ(calls_[1].endings(), 0);
  Serve(AddWorker());
  EXPECT_EQ(first->Answer(), Rows(1));
  EXPECT_EQ(calls_[1].Answer(), Rows(2));
}

// ---- outputs that do not fit ----

class PoolUnknownOutputs : public PoolFixture {
 protected:
  PoolUnknownOutputs() { model_.spec.outputs[0].dims = {-1}; }

  FakeCall* SubmitPinned(float value) {
    FakeCall* call = NewCall();
    call->request.pin = 1;
    call->request.key.push_back(1);
    return Enter(call, value);
  }

  void TooLarge(FakeWorker* worker, const Job& job, uint64_t needed_bytes) {
    worker->CompleteWith(job, BatchOutcome::kOutputTooLarge, "", needed_bytes);
    Drain();
  }
};

TEST_F(PoolUnknownOutputs, GoAgainWithALeaseThatHoldsThem) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  const std::optional<Job> job = worker->Take();
  const uint64_t needed_bytes = job->output_bytes + 1000;
  TooLarge(worker, *job, needed_bytes);
  const std::optional<Job> again = worker->Take();
  ASSERT_TRUE(again.has_value());
  EXPECT_GE(again->output_bytes, needed_bytes);
  Complete(worker, *again);
  EXPECT_EQ(call->Answer(), Rows(1));
  FakeCall* next = Submit(2);
  EXPECT_GE(worker->mailbox(0).records[0].output_bytes, needed_bytes) << "it has learned";
  Serve(worker);
  EXPECT_EQ(next->Answer(), Rows(2));
}

TEST_F(PoolUnknownOutputs, AfterABatchThatFitsNoLeaseFewerRowsRunTogether) {
  FakeWorker* worker = MakePoolOfOne();
  const auto batch_of_four = [&] {
    Submit(0);
    const std::optional<Job> before = worker->Take();
    for (const float value : {1.f, 2.f, 3.f, 4.f}) Submit(value);
    Complete(worker, *before);
    return worker->Take();
  };
  const std::optional<Job> all = batch_of_four();
  ASSERT_EQ(all->row_count, 4u);
  TooLarge(worker, *all, 2 * workers_[0].link->outputs().largest_lease_bytes);
  Serve(worker);
  const std::optional<Job> half = batch_of_four();
  EXPECT_EQ(half->row_count, 2u);
  Complete(worker, *half);
  Serve(worker);
}

TEST_F(PoolUnknownOutputs, WhoRunsOnceHasAsMuchAsALaneMayHave) {
  FakeWorker* worker = MakePoolOfOne();
  SubmitPinned(1);
  EXPECT_EQ(worker->mailbox(0).records[0].output_bytes, LaneLeaseBytes(model_.spec));
  Serve(worker);
}

// A request with a pin may not run again, so later batches are smaller; but not for long.
TEST_F(PoolUnknownOutputs, AWorkerThatAsksForAllMemorySizesFewBatches) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = SubmitPinned(1);
  TooLarge(worker, *worker->Take(), uint64_t{1} << 62);
  EXPECT_TRUE(absl::IsResourceExhausted(call->status()));
  for (uint32_t i = 0; i < 16 * OutputEstimate::kBatchesToShrink; ++i) {
    SubmitPinned(2);
    Serve(worker);
  }
  SubmitPinned(3);
  const std::optional<Job> job = worker->Take();
  for (const float value : {4.f, 5.f, 6.f}) SubmitPinned(value);
  Complete(worker, *job);
  EXPECT_EQ(worker->mailbox(0).records[0].row_count, 3u);
  Serve(worker);
}

TEST_F(PoolUnknownOutputs, OneLongAnswerDoesNotSizeTheLeasesOfAllThatFollow) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  TooLarge(worker, *worker->Take(), 1 << 20);
  EXPECT_EQ(worker->mailbox(0).records[0].output_bytes, 1U << 20);
  Serve(worker);
  for (uint32_t i = 0; i < 6 * OutputEstimate::kBatchesToShrink; ++i) {
    Submit(2);
    Serve(worker);
  }
  FakeCall* last = Submit(3);
  EXPECT_EQ(worker->mailbox(0).records[0].output_bytes, kAssumedOutputRowBytes);
  Serve(worker);
  EXPECT_EQ(last->Answer(), Rows(3));
}

TEST_F(PoolUnknownOutputs, LargerThanTheLargestLeaseWaitForALargerWorker) {
  FakeWorker* worker = MakePoolOfOne({.max_answer_bytes = 1ULL << 30});
  const uint32_t number = workers_[0].link->worker();
  const uint64_t area_bytes = workers_[0].link->outputs().bytes;
  FakeCall* call = Submit(1);
  EXPECT_FALSE(pool_->workers()->IsTooSmall(number));
  TooLarge(worker, *worker->Take(), area_bytes);
  EXPECT_EQ(call->endings(), 0);
  EXPECT_TRUE(pool_->workers()->IsTooSmall(number));
  FakeCall* small = Submit(2);
  Serve(worker);
  EXPECT_EQ(small->Answer(), Rows(2)) << "it holds up nobody";
  FakeWorker* larger = AddWorker(1);
  EXPECT_FALSE(worker->Take().has_value()) << "it is not tried there again";
  const std::optional<Job> job = larger->Take();
  ASSERT_TRUE(job.has_value());
  EXPECT_GE(job->output_bytes, area_bytes) << "its size is known";
  Complete(larger, *job);
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(PoolUnknownOutputs, WhoWaitsForALargerWorkerIsToldWhenNoneComes) {
  FakeWorker* worker = MakePoolOfOne({.max_answer_bytes = 1ULL << 30});
  const uint64_t area_bytes = workers_[0].link->outputs().bytes;
  FakeCall* call = Submit(1);
  TooLarge(worker, *worker->Take(), area_bytes);
  EXPECT_GE(pool_->workers()->LinkOptions(9, 1, 1).outputs.bytes, 2 * area_bytes);
  pool_->workers()->KeepSize(clock_.NowNs());
  EXPECT_EQ(call->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(call->status().message()), HasSubstr("there is no memory"));
  EXPECT_FALSE(pool_->workers()->IsTooSmall(0));
  EXPECT_EQ(pool_->workers()->LinkOptions(9, 1, 1).outputs.bytes, area_bytes);
  EXPECT_EQ(model_.metrics.queued_requests, 0);
}

TEST_F(PoolUnknownOutputs, WhoWaitsForALargerWorkerMayBeCancelledAndExpire) {
  FakeWorker* worker = MakePoolOfOne({.max_answer_bytes = 1ULL << 30});
  const uint64_t area_bytes = workers_[0].link->outputs().bytes;
  FakeCall* calls[] = {Submit(1, 1, 9 * kNsPerSecond), Submit(2, 1, 2 * kNsPerSecond),
                       Submit(3, 1, 9 * kNsPerSecond)};
  for (int i = 0; i < 5 && pool_->inside() > 0; ++i) {  // together, or each alone
    const std::optional<Job> job = worker->Take();
    if (job.has_value()) TooLarge(worker, *job, area_bytes);
  }
  EXPECT_EQ(model_.metrics.queued_requests, 3);
  pool_->CheckInvariants();
  pool_->Cancel(&calls[0]->request);
  EXPECT_EQ(calls[0]->status().code(), absl::StatusCode::kCancelled);
  TickAfter(2 * kNsPerSecond);
  EXPECT_EQ(calls[1]->status().code(), absl::StatusCode::kDeadlineExceeded);
  pool_->CheckInvariants();
  pool_->Close();
  EXPECT_TRUE(RetryAfterNs(calls[2]->status()).has_value()) << "the next generation may hold it";
  EXPECT_EQ(pool_->inside(), 0);
}

// The workers of a model are replaced one by one.
TEST_F(PoolUnknownOutputs, GoToTheLargerOfTwoWorkersThatServe) {
  MakePool({.max_answer_bytes = 1ULL << 30});
  FakeWorker* small = AddWorker(0);
  const uint64_t area_bytes = workers_[0].link->outputs().bytes;
  FakeCall* first = Submit(1);
  TooLarge(small, *small->Take(), area_bytes);
  FakeWorker* larger = AddWorker(1);
  Serve(larger);
  EXPECT_EQ(first->Answer(), Rows(1));
  Submit(2);
  Submit(3);  // one on each
  std::optional<Job> job = small->Take();
  ASSERT_TRUE(job.has_value());
  TooLarge(small, *job, area_bytes);
  EXPECT_FALSE(small->Take().has_value());
  Serve(larger);
  Serve(larger);
  EXPECT_EQ(calls_[1].Answer(), Rows(2));
  EXPECT_EQ(calls_[2].Answer(), Rows(3));
}

// Nothing is promised that does not come: the client need not try again.
TEST_F(PoolUnknownOutputs, WhereNoLargerWorkerCanBeHadTheRefusalSaysSo) {
  FakeWorker* worker = MakePoolOfOne({.max_answer_bytes = 1ULL << 30});
  const uint32_t number = workers_[0].link->worker();
  const uint64_t area_bytes = workers_[0].link->outputs().bytes;
  pool_->workers()->KeepSize(clock_.NowNs() + kNsPerSecond);
  FakeCall* call = Submit(1);
  TooLarge(worker, *worker->Take(), area_bytes);
  EXPECT_EQ(call->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(call->status().message()), HasSubstr("there is no memory"));
  EXPECT_FALSE(RetryAfterNs(call->status()).has_value());
  EXPECT_FALSE(pool_->workers()->IsTooSmall(number)) << "and none is tried";
  clock_.Advance(kNsPerSecond);
  FakeCall* later = Submit(2);
  TooLarge(worker, *worker->Take(), area_bytes);
  EXPECT_EQ(later->endings(), 0);
  EXPECT_TRUE(pool_->workers()->IsTooSmall(number));
  pool_->FailAll("left over");
}

// A worker that starts with the area for such an answer is not replaced again.
TEST_F(PoolUnknownOutputs, TheLargerWorkerIsLargeEnough) {
  FakeWorker* worker = MakePoolOfOne({.max_answer_bytes = 1ULL << 30});
  Submit(1);
  TooLarge(worker, *worker->Take(), workers_[0].link->outputs().bytes);
  AddWorker(1);
  EXPECT_TRUE(pool_->workers()->IsTooSmall(0));
  EXPECT_FALSE(pool_->workers()->IsTooSmall(1));
  Serve(workers_[1].side.get());
}

TEST_F(PoolUnknownOutputs, ALeanWorkerGivesOneOfThemAtATime) {
  FakeWorker* first = MakePoolOfOne({.max_answer_bytes = 1ULL << 30});
  const uint64_t needed_bytes = workers_[0].link->outputs().bytes;
  Submit(1);
  TooLarge(first, *first->Take(), needed_bytes);
  FakeWorker* lean = AddWorkerWith(pool_->workers()->LinkOptions(1, 1, 2, AreaKind::kLean));
  Serve(lean);
  EXPECT_FALSE(pool_->workers()->IsTooSmall(1));
  Kill(0);
  FakeCall* calls[] = {Submit(2), Submit(3)};
  for (uint32_t lane = 0; lane < 2; ++lane) {  // with leases of the usual size at first
    lean->CompleteWith(*lean->Take(lane), BatchOutcome::kOutputTooLarge, "", needed_bytes);
  }
  Drain();
  const std::optional<Job> job = lean->Take(0);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->output_bytes, workers_[0].link->outputs().largest_lease_bytes);
  EXPECT_FALSE(lean->Take(1).has_value()) << "the area has room for one";
  lean->Complete(*job);
  Serve(lean);
  EXPECT_EQ(calls[0]->Answer(), Rows(2));
  EXPECT_EQ(calls[1]->Answer(), Rows(3));
}

TEST_F(PoolUnknownOutputs, AsLargeAsAMessageWantALargerWorkerToo) {
  constexpr uint64_t kMessageBytes = 1ULL << 30;
  FakeWorker* worker = MakePoolOfOne({.max_answer_bytes = kMessageBytes});
  FakeCall* call = Submit(1);
  TooLarge(worker, *worker->Take(), kMessageBytes);
  EXPECT_EQ(call->endings(), 0);
  EXPECT_TRUE(pool_->workers()->IsTooSmall(0));
  pool_->FailAll("left over");
}

TEST_F(PoolUnknownOutputs, ASuspectThatNeedsALargerLeaseStillRunsAlone) {
  MakePool();
  for (const float value : {1.0F, 2.0F}) Submit(value);
  ASSERT_EQ(AddWorker()->Take()->row_count, 2u);
  Kill(0, WorkerEnd::kCrashed);
  FakeWorker* worker = AddWorker();
  Submit(3);
  const std::optional<Job> first = worker->Take();
  TooLarge(worker, *first, first->output_bytes + 1000);
  for (int i = 0; i < 3; ++i) {
    const std::optional<Job> job = worker->Take();
    ASSERT_TRUE(job.has_value());
    EXPECT_EQ(job->row_count, 1u);
    Complete(worker, *job);
  }
  for (const FakeCall& call : calls_) EXPECT_TRUE(call.status().ok());
}

TEST_F(PoolUnknownOutputs, LargerThanAnyMessageAreRefused) {
  FakeWorker* worker = MakePoolOfOne({.max_answer_bytes = 1ULL << 20});
  const uint32_t number = workers_[0].link->worker();
  FakeCall* call = Submit(1);
  TooLarge(worker, *worker->Take(), workers_[0].link->outputs().bytes);
  EXPECT_EQ(call->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(RetryAfterNs(call->status()).has_value());
  EXPECT_FALSE(pool_->workers()->IsTooSmall(number));
}

TEST_F(PoolUnknownOutputs, LargerThanTheAreaAreRefused) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  TooLarge(worker, *worker->Take(), UINT64_MAX);
  EXPECT_EQ(call->status().code(), absl::StatusCode::kResourceExhausted);
  FakeCall* next = Submit(2);
  Serve(worker);
  EXPECT_EQ(next->Answer(), Rows(2));
}

TEST_F(PoolUnknownOutputs, OfAModelWithoutBatchesLargerThanTheAreaAreRefused) {
  model_.spec.max_batch_size = 0;  // each request has a slab of its own, which ends with it
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  TooLarge(worker, *worker->Take(), UINT64_MAX);
  EXPECT_EQ(call->status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(PoolUnknownOutputs, OfACancelledRequestGoNowhere) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  Submit(2);
  worker->Complete(*worker->Take());
  Submit(3);
  Drain();
  const std::optional<Job> job = worker->Take();
  ASSERT_EQ(job->row_count, 2u);
  pool_->Cancel(&calls_[1].request);
  TooLarge(worker, *job, job->output_bytes + 1);
  const std::optional<Job> again = worker->Take();
  EXPECT_EQ(again->row_count, 1u);
  Complete(worker, *again);
  EXPECT_EQ(calls_[2].Answer(), Rows(3));
}

TEST_F(PoolUnknownOutputs, SmallBatchesFollowWhereALargeOneCanNeverFit) {
  FakeWorker* worker = MakePoolOfOne();
  Submit(1);
  const std::optional<Job> job = worker->Take();
  TooLarge(worker, *job, workers_[0].link->outputs().bytes / 2);
  Serve(worker);
  for (float value = 2; value < 10; ++value) Submit(value);
  Serve(worker);
  for (const FakeCall& call : calls_) EXPECT_EQ(call.endings(), 1);
  if (pool_->inside() > 0) pool_->FailAll("left over");
}

TEST_F(PoolFaults, OutputsBeyondAKnownShapeAreNotTriedForEver) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* call = Submit(1);
  for (uint32_t i = 0; i < kMaxDispatches && call->endings() == 0; ++i) {
    const std::optional<Job> job = worker->Take();
    if (!job.has_value()) break;
    worker->CompleteWith(*job, BatchOutcome::kOutputTooLarge, "", job->output_bytes + 1);
    Drain();
  }
  EXPECT_TRUE(call->endings() == 1 || !keeper_.condemned().empty());
  if (call->endings() == 0) {
    ServeByAnother();
  }
}

// ---- the memory of answers ----

TEST_F(PoolFaults, AnAnswerOutlivesItsWorker) {
  FakeWorker* worker = MakePoolOfOne();
  FakeCall* slow = Submit(7, 1, kTimeoutNs, /*keep_memory=*/true);
  Serve(worker);
  const std::weak_ptr<WorkerLink> link = workers_[0].link;
  Kill(0);
  FakeWorker* next = AddWorker();
  FakeCall* call = Submit(8);
  Serve(next);
  EXPECT_EQ(call->Answer(), Rows(8));
  EXPECT_FALSE(link.expired());
  EXPECT_EQ(slow->sink.view(0), slow->sink.outputs()[0].bytes);
  slow->sink.DropMemory();
  EXPECT_TRUE(link.expired());
}

TEST_F(PoolFaults, AnAnswerOutlivesThePool) {
  FakeCall* slow = Submit(7, 1, kTimeoutNs, /*keep_memory=*/true);
  Serve(AddWorker());
  const std::weak_ptr<WorkerLink> link = workers_[0].link;
  workers_.clear();
  pool_.reset();
  EXPECT_FALSE(link.expired());
  EXPECT_EQ(slow->sink.view(0), slow->sink.outputs()[0].bytes);
  slow->sink.DropMemory();
  EXPECT_TRUE(link.expired());
}

TEST_F(PoolFaults, AFullOutputAreaHoldsBatchesBackUntilAnAnswerIsRead) {
  MakePool();
  WorkerLink::Options options = pool_->workers()->LinkOptions(0, 1, 1);
  options.outputs.bytes = 64;  // one lease
  FakeWorker* worker = AddWorkerWith(options);
  FakeCall* slow = Submit(1, 1, kTimeoutNs, /*keep_memory=*/true);
  Serve(worker);
  FakeCall* held = Submit(2);
  EXPECT_FALSE(worker->Take().has_value());
  EXPECT_EQ(held->endings(), 0);
  slow->sink.DropMemory();
  Serve(worker);
  EXPECT_EQ(held->Answer(), Rows(2));
  EXPECT_EQ(slow->Answer(), Rows(1));
}

TEST_F(PoolFaults, AnUnreadAnswerOfEachBatchDoesNotFillTheOutputArea) {
  MakePool({.max_delay_ns = kTimeoutNs / 2});  // a batch is formed when it is full
  WorkerLink::Options options = pool_->workers()->LinkOptions(0, 1, 1);
  options.outputs.bytes = 3 * 64;  // three batches' leases, of which an answer takes 8 bytes
  options.outputs.pin_limit_bytes = 64;
  FakeWorker* worker = AddWorkerWith(options);
  std::vector<FakeCall*> slow;
  for (uint32_t i = 0; i < 8; ++i) {
    slow.push_back(Submit(1, 1, kTimeoutNs, /*keep_memory=*/true));
    FakeCall* good = Submit(2, 3);
    Serve(worker);
    ASSERT_EQ(good->Answer(), Rows(2, 3)) << i;
    // A call copies an answer that it may not keep.
    if (!slow.back()->sink.memory()->TryPin()) slow.back()->sink.DropMemory();
    EXPECT_EQ(workers_[0].link->pinned_bytes(), 64u);
  }
  pool_->Tick();
  EXPECT_EQ(model_.metrics.pinned_output_bytes, 64);
  EXPECT_EQ(model_.metrics.output_leases, 1);
  slow.front()->sink.DropMemory();
  EXPECT_EQ(workers_[0].link->pinned_bytes(), 0u);
}

}  // namespace
}  // namespace mpsd

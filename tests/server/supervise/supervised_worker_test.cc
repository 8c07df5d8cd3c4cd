#include "server/supervise/supervised_worker.h"

#include "proto/base/backoff_policy.h"
#include "proto/base/core_binding.h"
#include "tests/fakes/fake_worker_owner.h"
#include "tests/server/supervise/supervise_fixture.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SupervisedWorkerTest : public SuperviseFixture {
 protected:
  SupervisedWorkerTest() {
    board_.Open(*owner_.model().served);
    worker_.emplace(&owner_, 0, 0, DeviceShare{"cuda:1", 50}, &services_);
  }

  void TearDown() override {
    if (worker_.has_value()) worker_->EndNow();
    owner_.model().pool->FailAll("left over");
    worker_.reset();
  }

  // Hands every event that is ready to the worker, until none is.
  void Pump() {
    for (std::vector<uint64_t> tokens = host_.Ready(); !tokens.empty(); tokens = host_.Ready()) {
      const std::vector<std::string> before = host_.journal;
      for (const uint64_t token : tokens) {
        worker_->OnEvent(static_cast<WorkerEvent>((token - worker_->first_token())));
      }
      if (host_.Ready() == tokens && host_.journal == before) return;
    }
  }

  // The process does so, and the worker learns of it.
  template <typename T>
  void Say(const T& message) {
    process().Say(message);
    Pump();
  }
  void Exit(int code) {
    process().Exit(code);
    Pump();
  }
  void DieOf(int signal) {
    process().DieOf(signal);
    Pump();
  }
  void HangUp() {
    process().HangUp();
    Pump();
  }

  // The worker reports that it will run so many lanes; 0: as many as ordered.
  void Load(uint32_t lanes = 0) {
    worker_->Start();
    LoadReport report = Report();
    report.lanes = lanes;
    Say(report);
  }

  void Serve() {
    Load();
    Say(Ready{});
    ASSERT_EQ(worker_->state(), WorkerState::kServing);
    side_.emplace(*worker_->link(), pool()->memory()->Descriptors(), &clock_);
  }

  // Brings the worker into a state that has a process.
  void BringInto(WorkerState state) {
    if (state == WorkerState::kLoading) worker_->Start();
    if (state == WorkerState::kWarming) Load();
    if (state >= WorkerState::kServing) Serve();
    if (state == WorkerState::kDraining) worker_->Drain();
    if (state == WorkerState::kEnding) {
      host_.last().ignores_hang = true;
      HangUp();
    }
    ASSERT_EQ(worker_->state(), state);
  }

  // Time passes while the front end looks, in ticks.
  void Pass(int64_t ns, bool heartbeats = false) {
    services_.thread.Check();
    for (int64_t at_ns = 0; at_ns < ns; at_ns += kWatchdogTickNs) {
      clock_.Advance(std::min(kWatchdogTickNs, ns - at_ns));
      services_.own_time.Advance(clock_.NowNs());
      if (heartbeats) side_->report(0)->heartbeat.fetch_add(1);
      worker_->Tick();
    }
  }

  Pool* pool() { return owner_.model().pool; }
  FakeWorkerProcess& process() { return host_.last(); }
  WorkerInfo Info() { return board_.Workers(*owner_.model().served).front(); }
  uint64_t Exits(WorkerExit exit) {
    return owner_.model().served->metrics.worker_exits[static_cast<size_t>(exit)];
  }

  FakeWorkerOwner owner_{MakeModel(&keeper_), &budget_};
  std::optional<SupervisedWorker> worker_;
  std::optional<FakeWorker> side_;
};

// ---- the legal steps ----

TEST_F(SupervisedWorkerTest, StartsOnTheCoresOfItsShare) {
  const std::vector<uint32_t> allowed = CoreBinding::OfThread();
  if (allowed.empty()) GTEST_SKIP() << "this system binds no threads";
  const std::vector<uint32_t> last = {allowed.back()};
  worker_.emplace(&owner_, 0, 0, DeviceShare{"cpu", 0, last}, &services_);
  worker_->Start();
  EXPECT_EQ(host_.last_cores(), last);
  EXPECT_EQ(CoreBinding::OfThread(), allowed) << "the supervisor's thread is free again";
}

TEST_F(SupervisedWorkerTest, AStartOrdersTheLoad) {
  worker_->Start();
  EXPECT_EQ(worker_->state(), WorkerState::kLoading);
  ASSERT_NE(process().LastSent<LoadOrder>(), nullptr);
  EXPECT_EQ(process().LastSent<LoadOrder>()->epoch, 1u);
  EXPECT_EQ(process().LastSent<LoadOrder>()->device, "cuda:1");
  EXPECT_EQ(process().LastSent<LoadOrder>()->memory_share_percent, 50u);
  EXPECT_EQ(Info().device, "cuda:1") << "before it has said so";
  EXPECT_EQ(host_.last_options().model, "m");
  EXPECT_EQ(host_.last_options().format, ModelFormat::kSynthetic);
  EXPECT_EQ(Info().state, "loading");
}

TEST_F(SupervisedWorkerTest, ALoadedWorkerGetsItsMemory) {
  Load();
  EXPECT_EQ(worker_->state(), WorkerState::kWarming);
  ASSERT_NE(process().LastSent<AttachOrder>(), nullptr);
  EXPECT_EQ(process().LastSent<AttachOrder>()->slab_segment_bytes.size(), 1u);
  EXPECT_EQ(process().sent_descriptors(), 4u);
}

TEST_F(SupervisedWorkerTest, AWarmWorkerServes) {
  Load();
  clock_.Advance(kNsPerSecond);
  Say(Ready{});
  EXPECT_EQ(worker_->state(), WorkerState::kServing);
  EXPECT_THAT(owner_.starts_took_ns, ElementsAre(kNsPerSecond));
  EXPECT_EQ(bells_.watched.count(0), 1u);
  EXPECT_TRUE(board_.WaitUntilServing(*owner_.model().served, [] { return false; }).ok());
}

TEST_F(SupervisedWorkerTest, AWarmWorkerDoesNotServeBeforeItHasMappedAll) {
  owner_.MakeSlabs();
  OwnedSegment further =
      OwnedSegment::Create(SegmentKind::kSlabs, 64 * platform::PageBytes(), 0).value();
  pool()->memory()->Add(std::move(further), 1);
  Load();
  ASSERT_NE(process().LastSent<SlabsAdded>(), nullptr);
  Say(Ready{});
  EXPECT_EQ(worker_->state(), WorkerState::kWarming);
  Say(SlabsMapped{1});
  EXPECT_EQ(worker_->state(), WorkerState::kServing);
}

TEST_F(SupervisedWorkerTest, ADrainingWorkerFinishesItsBatchAndGoes) {
  Serve();
  FakeCall* call = Submit(pool(), 1);
  worker_->Drain();
  FakeCall* later = Submit(pool(), 2);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(worker_->state(), WorkerState::kDraining);
  Answer(&*side_, pool());
  EXPECT_EQ(call->endings(), 1);
  EXPECT_EQ(later->endings(), 0) << "it gets no more";
  Pass(kWatchdogTickNs);
  EXPECT_EQ(worker_->state(), WorkerState::kEnding);
  EXPECT_TRUE(process().hung());
  Pump();
  EXPECT_EQ(worker_->state(), WorkerState::kWaiting);
  EXPECT_TRUE(worker_->life().leaving());
  EXPECT_EQ(Exits(WorkerExit::kAsked), 1u);
}

class EachStateTest : public SupervisedWorkerTest,
                      public testing::WithParamInterface<WorkerState> {};

TEST_P(EachStateTest, AProcessThatIsGoneLeavesItWaiting) {
  BringInto(GetParam());
  process().Exit(3);
  worker_->OnEvent(WorkerEvent::kExit);
  EXPECT_EQ(worker_->state(), WorkerState::kWaiting);
  ASSERT_EQ(owner_.deaths.size(), 1u);
  EXPECT_EQ(owner_.deaths[0].reason.text, "exit 3");
  EXPECT_THAT(bells_.watched, IsEmpty());
  EXPECT_EQ(Info().last_exit, "exit 3");
}

TEST_P(EachStateTest, AProcessThatHangsUpHasASecondToLeave) {
  BringInto(GetParam());
  process().ignores_hang = true;
  HangUp();
  EXPECT_EQ(worker_->state(), WorkerState::kEnding);
  Pass(kNsPerSecond - 1);
  EXPECT_EQ(process().kills(), 0);
  Pass(1);
  EXPECT_EQ(process().kills(), 1);
  Pump();
  EXPECT_EQ(worker_->state(), WorkerState::kWaiting);
  EXPECT_EQ(Exits(WorkerExit::kProtocol), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, EachStateTest,
                         testing::Values(WorkerState::kLoading, WorkerState::kWarming,
                                         WorkerState::kServing, WorkerState::kDraining,
                                         WorkerState::kEnding));

// ---- the illegal ones ----

using SupervisedWorkerDeathTest = SupervisedWorkerTest;

TEST_F(SupervisedWorkerDeathTest, OnlyAWaitingWorkerWaits) {
  worker_->Start();
  EXPECT_DEATH(worker_->Wait("device"), "check failed");
}

TEST_F(SupervisedWorkerDeathTest, OnlyALoadingWorkerGetsMemoryAndLanes) {
  EXPECT_DEATH(worker_->AttachSegments().IgnoreError(), "check failed");
  Load();
  EXPECT_DEATH(worker_->AttachSegments().IgnoreError(), "check failed");
  EXPECT_DEATH(worker_->TakeLanes(Report()), "check failed");
}

TEST_F(SupervisedWorkerDeathTest, AWorkerWithAProcessIsNotDestroyed) {
  worker_->Start();
  EXPECT_DEATH(worker_.reset(), "check failed");
}

TEST_F(SupervisedWorkerTest, AWarningOfAReadyWorkerIsToldToOperators) {
  Load();
  Say(Ready{"PyTorch execute failure: it takes no zeros"});
  EXPECT_EQ(worker_->state(), WorkerState::kServing);
  EXPECT_EQ(Info().warning, "warm-up: PyTorch execute failure: it takes no zeros");
}

// ---- the budgets ----

TEST_F(SupervisedWorkerTest, ABatchThatDoesNotComeBackEndsItsWorkerWhateverItsLaneWrites) {
  owner_.mutable_model()->limits.run_timeout_ns = 20 * kNsPerSecond;
  Serve();
  FakeCall* call = Submit(pool(), 1);
  Pass(kWatchdogTickNs, true);  // the lane is seen to have a batch
  Pass(20 * kNsPerSecond, true);
  EXPECT_EQ(process().kills(), 0);
  Pass(kWatchdogTickNs, true);
  EXPECT_EQ(process().kills(), 1);
  EXPECT_EQ(call->endings(), 0);
  Pump();
  EXPECT_EQ(Exits(WorkerExit::kHang), 1u);
}

TEST_F(SupervisedWorkerTest, AFrontEndThatWasStoppedKillsNobody) {
  owner_.mutable_model()->limits.run_timeout_ns = 20 * kNsPerSecond;
  Serve();
  Submit(pool(), 1);
  Pass(kWatchdogTickNs);  // the lane is seen to have a batch
  services_.thread.Check();
  clock_.Advance(3600 * kNsPerSecond);
  services_.own_time.Advance(clock_.NowNs());
  worker_->Tick();
  EXPECT_EQ(process().kills(), 0);
}

TEST_F(SupervisedWorkerTest, AHangOfAStoppedWorkerIsNotItsFault) {
  Serve();
  process().Stop();
  worker_->GiveUp(WorkerExit::kHang, "silence");
  Pump();
  EXPECT_THAT(owner_.deaths[0].reason.text, HasSubstr("somebody had stopped it"));
  EXPECT_FALSE(owner_.deaths[0].reason.counts);
}

// ---- the order after a death ----

TEST_F(SupervisedWorkerTest, ADeathIsKillThenReapThenRequestsThenRespawn) {
  Serve();
  FakeCall* call = Submit(pool(), 7);
  process().ignores_kill = process().ignores_hang = true;
  process().on_kill = [this] { EXPECT_TRUE(pool()->busy()); };
  owner_.on_death = [this] {
    EXPECT_FALSE(pool()->busy()) << "its requests wait again before the group hears of it";
    host_.journal.push_back("owner hears");
  };
  worker_->GiveUp(WorkerExit::kProtocol, "it lies\n");
  EXPECT_EQ(Info().last_words, "it lies\\n") << "a line stays a line";
  Pump();
  EXPECT_TRUE(pool()->busy()) << "a killed worker may still write to its memory";
  EXPECT_THAT(host_.journal, ElementsAre("spawn 1", "kill 1"));
  DieOf(SIGKILL);
  EXPECT_EQ(call->endings(), 0);
  Serve();
  EXPECT_THAT(host_.journal, ElementsAre("spawn 1", "kill 1", "reap 1", "owner hears", "spawn 2"));
  Answer(&*side_, pool());
  EXPECT_EQ(call->Answer(), (std::vector<float>{7, 7})) << "from where its rows lie";
  EXPECT_EQ(worker_->epoch(), 2u);
  EXPECT_EQ(Info().restarts, 1u);
}

TEST_F(SupervisedWorkerTest, AnExitThatCannotBeReapedYetIsAskedForAgain) {
  Serve();
  process().reaped_late = 3;
  process().DieOf(SIGSEGV);
  worker_->OnEvent(WorkerEvent::kExit);  // which macOS reports once
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(worker_->ends_soon()) << "so that the next tick comes at once";
    worker_->Tick();
    EXPECT_EQ(worker_->state(), WorkerState::kServing);
  }
  worker_->Tick();
  EXPECT_EQ(worker_->state(), WorkerState::kWaiting);
  EXPECT_EQ(Exits(WorkerExit::kSignal), 1u);
}

TEST_F(SupervisedWorkerTest, EventsAfterTheEndAreIgnored) {
  worker_->Start();
  Exit(1);
  for (const WorkerEvent event :
       {WorkerEvent::kControl, WorkerEvent::kOutput, WorkerEvent::kExit}) {
    worker_->OnEvent(event);
  }
  EXPECT_EQ(owner_.deaths.size(), 1u);
}

TEST_F(SupervisedWorkerTest, ItsMemoryIsGivenBackAfterItsDeath) {
  Serve();
  EXPECT_GT(budget_.taken_bytes(), 0u);
  Exit(0);
  EXPECT_EQ(budget_.taken_bytes(), 0u);
}

// ---- backoff ----

TEST_F(SupervisedWorkerTest, AProcessThatCannotBeSpawnedIsTriedAgainLater) {
  host_.spawn_status = absl::ResourceExhaustedError("no more processes");
  worker_->Start();
  worker_->Start();
  EXPECT_EQ(worker_->state(), WorkerState::kWaiting);
  EXPECT_EQ(worker_->life().start_at_ns() - clock_.NowNs(), 100 * kNsPerMs);
  EXPECT_EQ(Info().last_words, "no more processes");
  EXPECT_EQ(board_.Fault(*owner_.model().served).message(),
            "its worker cannot be started; the log says why");
  EXPECT_THAT(owner_.deaths, IsEmpty());
}

// ---- what it says ----

TEST_F(SupervisedWorkerTest, AFailureIsItsLastWord) {
  worker_->Start();
  Say(Failure{"no such file\n"});
  EXPECT_EQ(Exits(WorkerExit::kLoad), 1u);
  EXPECT_EQ(process().kills(), 0) << "it left by itself";
  EXPECT_EQ(Info().last_words, "no such file\\n");
  EXPECT_THAT(Info().last_lines, ElementsAre("no such file\\n")) << "also once another serves";
  EXPECT_EQ(board_.Fault(*owner_.model().served).message(), "no such file\\n");
}

TEST_F(SupervisedWorkerTest, AFailureThatIsReadAfterTheExitCountsToo) {
  worker_->Start();
  process().Say(Failure{"no such file"});
  process().Exit(1);
  worker_->OnEvent(WorkerEvent::kExit);
  EXPECT_EQ(Info().last_words, "no such file");
  EXPECT_EQ(Exits(WorkerExit::kLoad), 1u);
}

TEST_F(SupervisedWorkerTest, AFailureThatLastsIsItsLastStart) {
  worker_->Start();
  Say(Failure{"it is no model", true});
  ASSERT_EQ(owner_.deaths.size(), 1u);
  EXPECT_TRUE(owner_.deaths[0].lasting);
  EXPECT_TRUE(worker_->life().failed());
  EXPECT_EQ(Info().state, "failed");
  EXPECT_EQ(Info().starts_in_ms, -1);
  EXPECT_TRUE(absl::IsFailedPrecondition(board_.Fault(*owner_.model().served)));
}

TEST_F(SupervisedWorkerTest, AModelThatWasLoadedOnceIsTriedAgainWhateverItsWorkerSays) {
  owner_.model().served->loaded = true;
  worker_->Start();
  Say(Failure{"it was replaced since", true});
  EXPECT_FALSE(owner_.deaths.at(0).lasting);
  EXPECT_EQ(worker_->life().start_at_ns() - clock_.NowNs(), 0);
  EXPECT_EQ(Info().state, "waiting to start");
}

TEST_F(SupervisedWorkerTest, AFaultOfTheFirstWarmUpThatLastsIsItsLastStart) {
  owner_.model().served->loaded = true;
  Load();
  Say(Failure{"an output has another shape", true});
  EXPECT_TRUE(worker_->life().failed());
}

TEST_F(SupervisedWorkerTest, AFaultOfALaterWarmUpIsTriedAgain) {
  owner_.model().served->loaded = true;
  Serve();
  Exit(1);
  owner_.model().served->ready = false;
  Load();
  Say(Failure{"an output has another shape", true});
  EXPECT_FALSE(worker_->life().failed());
}

TEST_F(SupervisedWorkerTest, AFaultOfAWarmUpBesideAWorkerThatServesIsTriedAgain) {
  owner_.model().served->loaded = true;
  owner_.model().served->ready = true;
  Load();
  Say(Failure{"an output has another shape", true});
  EXPECT_FALSE(worker_->life().failed());
}

TEST_F(SupervisedWorkerTest, AModelWhoseSpecIsRefusedIsNotLoadedAgain) {
  owner_.load_status = absl::InvalidArgumentError("a model without inputs or outputs");
  Load();
  EXPECT_TRUE(worker_->life().failed());
  EXPECT_EQ(owner_.deaths.at(0).reason.text, "load: a model without inputs or outputs");
}

TEST_F(SupervisedWorkerTest, AModelThatFindsNoMemoryIsLoadedAgain) {
  owner_.load_status = absl::ResourceExhaustedError("no memory");
  Load();
  EXPECT_FALSE(owner_.deaths.at(0).lasting);
}

TEST_F(SupervisedWorkerTest, AFloodOfTheControlSocketIsKilled) {
  worker_->Start();
  for (uint32_t i = 0; i < kControlReadsPerSecond; ++i) worker_->OnEvent(WorkerEvent::kControl);
  EXPECT_EQ(process().kills(), 0);
  worker_->OnEvent(WorkerEvent::kControl);
  EXPECT_EQ(process().kills(), 1);
  EXPECT_EQ(Info().last_words, "it floods its control socket");
}

TEST_F(SupervisedWorkerTest, AFloodOfOutputIsNotReadUntilTheNextTick) {
  worker_->Start();
  for (uint32_t i = 0; i < kOutputReadsPerSecond; ++i) worker_->OnEvent(WorkerEvent::kOutput);
  EXPECT_FALSE(process().paused());
  worker_->OnEvent(WorkerEvent::kOutput);
  EXPECT_TRUE(process().paused());
  Pass(kWatchdogTickNs);
  EXPECT_FALSE(process().paused());
  EXPECT_EQ(process().kills(), 0);
}

// The kernel counts descriptors on their way for each user: another process can use them up.
TEST_F(SupervisedWorkerTest, WhatCannotBeSentIsCountedAndTriedAgain) {
  worker_->Start();
  process().flush_status = absl::ErrnoToStatus(ETOOMANYREFS, "cannot send");
  Pass(kWatchdogTickNs);
  Pass(kWatchdogTickNs);
  const std::atomic<uint64_t>& errors = owner_.model().served->metrics.worker_send_errors;
  EXPECT_EQ(errors, 2u);
  EXPECT_EQ(process().kills(), 0);
  process().flush_status = absl::OkStatus();
  Pass(kWatchdogTickNs);
  EXPECT_EQ(errors, 2u);
}

TEST_F(SupervisedWorkerTest, LinesBeyondTheRateAreCounted) {
  worker_->Start();
  for (uint32_t i = 0; i < kWorkerLinesPerSecond + 3; ++i) process().Write("x\n");
  Pump();
  Pass(kWatchdogTickNs);
  EXPECT_EQ(owner_.model().served->metrics.worker_lines_dropped, 3u);
  EXPECT_EQ(Info().last_words, "x");
}

TEST_F(SupervisedWorkerTest, WhatItSaysOutOfTurnIsAnEnd) {
  worker_->Start();
  Say(Ready{});
  Load();
  Say(SlabsMapped{1});
  Serve();
  Say(LoadOrder{});
  ASSERT_EQ(owner_.deaths.size(), 3u);
  const std::string text = "protocol: it sent a message out of turn";
  for (const WorkerDeath& death : owner_.deaths) EXPECT_EQ(death.reason.text, text);
}

TEST_F(SupervisedWorkerTest, NonsenseIsAnEnd) {
  worker_->Start();
  process().SayNonsense();
  Pump();
  EXPECT_EQ(owner_.deaths.at(0).reason.text, "protocol: it is no message");
}

TEST_F(SupervisedWorkerTest, AWorkerThatReadsNothingIsAnEnd) {
  worker_->Start();
  process().send_status = absl::ResourceExhaustedError("it reads nothing");
  Say(Report());
  EXPECT_EQ(owner_.deaths.at(0).reason.text, "load: it reads nothing");
}

TEST_F(SupervisedWorkerTest, AWorkerWhoseBellNobodyHearsDoesNotServe) {
  bells_.watch_status = absl::ResourceExhaustedError("no descriptors");
  Load();
  Say(Ready{});
  EXPECT_EQ(worker_->state(), WorkerState::kWaiting);
  EXPECT_THAT(owner_.starts_took_ns, IsEmpty());
}

TEST_F(SupervisedWorkerTest, AWorkerThatRingsWithoutEndIsCondemned) {
  Serve();
  bells_.watched.at(0)();
  ASSERT_EQ(keeper_.condemned().size(), 1u);
  EXPECT_EQ(keeper_.condemned()[0].epoch, 1u);
}

TEST_F(SupervisedWorkerTest, ItTakesFewerLanesButNeverMore) {
  owner_.mutable_model()->order.lanes = 3;
  Load(2);
  EXPECT_EQ(Info().lanes, 2u);
  EXPECT_EQ(owner_.model().served->metrics.lane_demotions, 1u);
  Exit(1);
  Load(9);
  EXPECT_EQ(Info().lanes, 3u);
}

TEST_F(SupervisedWorkerTest, LanesThatBoreAllAreComparedAgainAfterACrashAlone) {
  owner_.mutable_model()->order.lanes = 3;
  Serve();
  EXPECT_FALSE(process().LastSent<LoadOrder>()->lanes_compared);
  DieOf(SIGKILL);
  Serve();
  EXPECT_TRUE(process().LastSent<LoadOrder>()->lanes_compared);
  DieOf(SIGSEGV);
  worker_->Start();
  EXPECT_FALSE(process().LastSent<LoadOrder>()->lanes_compared);
}

TEST_F(SupervisedWorkerTest, FewerLanesThanOrderedAreComparedAgain) {
  owner_.mutable_model()->order.lanes = 3;
  Load(1);
  DieOf(SIGKILL);
  worker_->Start();
  EXPECT_FALSE(process().LastSent<LoadOrder>()->lanes_compared);
}

// Threads that race may crash the comparison of the lanes before it can say anything.
TEST_F(SupervisedWorkerTest, ACrashBeforeTheReportLeavesOneLane) {
  owner_.mutable_model()->order.lanes = 3;
  worker_->Start();
  EXPECT_EQ(process().LastSent<LoadOrder>()->lanes, 3u);
  DieOf(SIGSEGV);
  worker_->Start();
  EXPECT_EQ(process().LastSent<LoadOrder>()->lanes, 1u);
  LoadReport report = Report();
  report.lanes = 3;
  Say(report);
  EXPECT_EQ(Info().lanes, 1u);
  EXPECT_EQ(owner_.model().served->metrics.lane_demotions, 1u);
}

TEST_F(SupervisedWorkerTest, ACrashBeforeTheReportLeavesNoTrialOfPrecisions) {
  owner_.mutable_model()->order.precision = Precision::kAuto;
  worker_->Start();
  EXPECT_EQ(process().LastSent<LoadOrder>()->precision, Precision::kAuto);
  DieOf(SIGSEGV);
  worker_->Start();
  EXPECT_EQ(process().LastSent<LoadOrder>()->precision, Precision::kFp32);
}

TEST_F(SupervisedWorkerTest, ACrashAfterGoodServiceLeavesTheLanes) {
  owner_.mutable_model()->order.lanes = 3;
  Serve();
  clock_.Advance(kGoodServiceNs + 1);
  DieOf(SIGSEGV);
  EXPECT_TRUE(owner_.deaths[0].served_well);
  worker_->Start();
  EXPECT_EQ(process().LastSent<LoadOrder>()->lanes, 3u);
}

// ---- its end ----

TEST_F(SupervisedWorkerTest, AKillOfTheKernelsForWantOfMemoryIsSaidSo) {
  Serve();
  ++host_.memory_kills;
  DieOf(SIGKILL);
  EXPECT_EQ(Exits(WorkerExit::kOom), 1u);
  Serve();
  DieOf(SIGKILL);
  EXPECT_EQ(Exits(WorkerExit::kKilled), 1u) << "the count explains one death";
}

TEST_F(SupervisedWorkerTest, ACrashPutDownToOneRequestIsToldSo) {
  Serve();
  FakeCall* call = Submit(pool(), 1);
  DieOf(SIGSEGV);
  EXPECT_EQ(owner_.deaths.at(0).conviction, Conviction::kSuspicion);
  Serve();
  DieOf(SIGSEGV);
  EXPECT_EQ(owner_.deaths.at(1).conviction, Conviction::kContent);
  EXPECT_EQ(call->status().message(), "request crashed its worker");
  Serve();
  DieOf(SIGSEGV);
  EXPECT_EQ(owner_.deaths.at(2).conviction, Conviction::kNone) << "nothing was inside";
}

}  // namespace
}  // namespace mpsd

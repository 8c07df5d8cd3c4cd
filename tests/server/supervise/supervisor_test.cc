#include "server/supervise/supervisor.h"

#include "proto/base/backoff_policy.h"
#include "tests/server/supervise/supervise_fixture.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The supervisor's thread takes a step when the test says so.
class SupervisorTest : public SuperviseFixture {
 protected:
  SupervisorTest() {
    auto host = std::make_unique<FakeWorkerHost>(&clock_);
    its_host_ = host.get();
    supervisor_.emplace(std::move(host), Supervisor::MemoryLimits{256 << 20}, &plane_, &clock_,
                        &logger_);
  }

  void TearDown() override {
    if (pool_ != nullptr) pool_->FailAll("left over");
    Stop();
  }

  // Starts the supervisor with a model of these workers, which load.
  void Start(uint32_t processes = 1) {
    SupervisedModel model = MakeModel(&*supervisor_, processes);
    served_ = model.served;
    pool_ = model.pool;
    supervisor_->Add(std::move(model));
    ASSERT_TRUE(supervisor_->Start().ok());
    started_ = true;
    its_host_->Step();
  }

  void Serve(size_t number) {
    its_host_->process(number).Say(Report());
    its_host_->Step();
    its_host_->process(number).Say(Ready{});
    its_host_->Step();
  }

  void Stop() {
    if (started_) its_host_->RunFreelyAtNextWake();
    supervisor_->Stop();
    started_ = false;
  }

  std::string StateOf(uint32_t index) { return supervisor_->Workers(*served_).at(index).state; }
  FakeWorkerProcess& process(size_t number) { return its_host_->process(number); }

  FakeWorkerHost* its_host_ = nullptr;
  std::optional<Supervisor> supervisor_;
  std::shared_ptr<ServedModel> served_;
  Pool* pool_ = nullptr;
  bool started_ = false;
};

TEST_F(SupervisorTest, AddedModelsAreStartedAndSettle) {
  Start(2);
  EXPECT_EQ(its_host_->spawned(), 2u);
  EXPECT_EQ(served_->metrics.workers_configured, 2);
  Serve(1);
  EXPECT_TRUE(supervisor_->WaitUntilSettled([] { return false; }).ok());
  EXPECT_EQ(supervisor_->WaitUntilServing(*served_, [] { return true; }).code(),
            absl::StatusCode::kCancelled);
  Serve(2);
  EXPECT_TRUE(supervisor_->WaitUntilServing(*served_, [] { return false; }).ok());
  EXPECT_TRUE(supervisor_->Fault(*served_).ok());
}

TEST_F(SupervisorTest, AHostThatDoesNotOpenIsAnErrorOfTheStart) {
  its_host_->open_status = absl::ResourceExhaustedError("no descriptors");
  EXPECT_EQ(supervisor_->Start().message(), "no descriptors");
}

TEST_F(SupervisorTest, ADeadWorkerIsReapedAndStartedAgain) {
  Start();
  Serve(1);
  process(1).Exit(1);
  its_host_->Step();
  EXPECT_THAT(its_host_->journal, ElementsAre("spawn 1", "reap 1", "spawn 2"));
  Serve(2);
  EXPECT_EQ(StateOf(0), "serving");
}

TEST_F(SupervisorTest, TheThreadSleepsUntilTheNextStartOrTick) {
  Start();
  EXPECT_EQ(its_host_->last_timeout_ns(), kWatchdogTickNs);
  process(1).Exit(1);
  its_host_->Step();
  process(2).Exit(1);
  its_host_->Step();
  EXPECT_LE(its_host_->last_timeout_ns(), kFirstBackoffNs);
  EXPECT_GE(its_host_->last_timeout_ns(), kFirstBackoffNs * 3 / 4) << "less by the jitter";
}

TEST_F(SupervisorTest, ACondemnedWorkerIsKilled) {
  Start();
  Serve(1);
  const int wakes = its_host_->wakes();
  supervisor_->Condemn(*served_, 0, 1, "it lies");
  EXPECT_EQ(its_host_->wakes(), wakes + 1);
  its_host_->Step();
  EXPECT_EQ(process(1).kills(), 1);
  EXPECT_EQ(supervisor_->Workers(*served_)[0].last_words, "it lies");
}

TEST_F(SupervisorTest, TheNextIncarnationDoesNotPayForTheOneBefore) {
  Start();
  Serve(1);
  supervisor_->Condemn(*served_, 0, 0, "another epoch");
  supervisor_->Condemn(*served_, 7, 1, "no such worker");
  its_host_->Step();
  EXPECT_EQ(process(1).kills(), 0);
}

TEST_F(SupervisorTest, APoolThatWantsMemoryNowIsLookedAtAtOnce) {
  Start();
  const int flushes = process(1).flushes();
  its_host_->Step();
  EXPECT_EQ(process(1).flushes(), flushes) << "no time has passed, and nobody asked";
  supervisor_->WakeBy(clock_.NowNs() + 1);
  its_host_->Step();
  EXPECT_EQ(process(1).flushes(), flushes) << "the completion thread's to look";
  const int wakes = its_host_->wakes();
  supervisor_->WakeBy(clock_.NowNs());
  EXPECT_EQ(its_host_->wakes(), wakes + 1);
  its_host_->Step();
  EXPECT_EQ(process(1).flushes(), flushes + 1);
}

TEST_F(SupervisorTest, OneThatWasStoppedForAWhileKillsNobody) {
  Start();
  Serve(1);
  FakeCall* call = Submit(pool_, 1, 100'000 * kNsPerSecond);
  clock_.Advance(kWatchdogTickNs);
  its_host_->Step();  // the lane is seen to have a batch
  clock_.Advance(3600 * kNsPerSecond);
  its_host_->Step();
  its_host_->Step();
  EXPECT_EQ(process(1).kills(), 0);
  EXPECT_EQ(call->endings(), 0);
}

TEST_F(SupervisorTest, OneThatLooksKillsWhoGivesNothingBack) {
  Start();
  Serve(1);
  Submit(pool_, 1, 100'000 * kNsPerSecond);
  for (int i = 0; i < 200 && process(1).kills() == 0; ++i) {
    clock_.Advance(kWatchdogTickNs);
    its_host_->Step();
  }
  EXPECT_EQ(process(1).kills(), 1);
}

TEST_F(SupervisorTest, ARetiredModelIsForgottenOnceItsWorkersAreGone) {
  Start();
  Serve(1);
  supervisor_->Retire(served_);
  EXPECT_EQ(supervisor_->Others(ServedModel()).size(), 0u);
  for (int i = 0; i < 4; ++i) {
    clock_.Advance(kWatchdogTickNs);
    its_host_->Step();
  }
  EXPECT_TRUE(process(1).reaped());
  EXPECT_THAT(supervisor_->Workers(*served_), IsEmpty());
  EXPECT_EQ(served_->metrics.workers_configured, 0);
  EXPECT_EQ(supervisor_->WaitUntilServing(*served_, [] { return false; }).code(),
            absl::StatusCode::kCancelled);
}

TEST_F(SupervisorTest, AModelThatIsAddedWhileItRunsIsStarted) {
  Start();
  SupervisedModel second = MakeModel(&*supervisor_);
  const std::shared_ptr<ServedModel> served = second.served;
  supervisor_->Add(std::move(second));
  its_host_->Step();
  EXPECT_EQ(its_host_->spawned(), 2u);
  EXPECT_EQ(supervisor_->Others(*served_).size(), 1u);
}

// ---- the end ----

TEST_F(SupervisorTest, StopEndsWorkersInEveryState) {
  Start(6);
  Serve(2);
  Serve(3);
  process(4).Say(Report());  // warms up
  its_host_->Step();
  process(5).ignores_hang = true;
  process(5).HangUp();  // is ending
  its_host_->Step();
  process(6).Exit(1);  // loads again
  its_host_->Step();
  EXPECT_EQ(StateOf(0), "loading");
  EXPECT_EQ(StateOf(1), "serving");
  EXPECT_EQ(StateOf(3), "warming up");
  EXPECT_EQ(StateOf(4), "ending");
  Stop();
  for (size_t number = 1; number <= its_host_->spawned(); ++number) {
    EXPECT_TRUE(process(number).reaped()) << number;
    EXPECT_EQ(process(number).kills(), number == 5 ? 1 : 0) << number;
  }
}

TEST_F(SupervisorTest, StopWaitsForNobodyLongerThanItsGrace) {
  Start();
  process(1).ignores_hang = process(1).ignores_kill = true;
  const int64_t before_ns = clock_.NowNs();
  Stop();
  EXPECT_TRUE(process(1).reaped());
  EXPECT_EQ(process(1).kills(), 1);
  EXPECT_GE(clock_.NowNs() - before_ns, 300 * kNsPerMs);
  EXPECT_LE(clock_.NowNs() - before_ns, 310 * kNsPerMs + kWatchdogTickNs);
}

TEST_F(SupervisorTest, StopIsIdempotentAndNeedsNoStart) {
  supervisor_->Stop();
  supervisor_->Stop();
}

}  // namespace
}  // namespace mpsd

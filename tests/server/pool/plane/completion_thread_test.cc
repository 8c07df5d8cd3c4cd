#include "server/pool/plane/completion_thread.h"

#include <atomic>
#include <thread>

#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

// The thread runs; time stands still unless a test moves it. A test waits for what the thread does,
// never for time.
class CompletionThreadTest : public PoolFixture {
 protected:
  static constexpr int64_t kNever =
      3600 * kNsPerSecond;  // so that no time-out hides a missing ring

  void Make() {
    MakePool();
    plane_.Add(pool_.get());
    worker_ = AddWorker();
    link_ = workers_.back().link;
  }

  void StartThread() {
    ASSERT_TRUE(thread_.Start().ok());
    AwaitParked();
  }

  void Start() {
    Make();
    StartThread();
  }

  void TearDown() override {
    thread_.Stop();
    PoolFixture::TearDown();
  }

  template <typename Condition>
  static void Await(Condition condition) {
    while (!condition()) std::this_thread::yield();
  }

  bool Rings() const { return platform::BellRings(link_->bell().poll_fd.get()); }
  void Ring() const { platform::RingBell(link_->bell().ring_fd.get()); }

  // The thread sleeps, or is about to: it asks the worker to ring.
  void AwaitParked() {
    Await([this] { return worker_->mailbox_page().front_parked.load() != 0; });
  }

  // The thread has gone through its loop once more.
  void AwaitTick() {
    FakeCall* call = Submit(0, 1, 1);
    clock_.Advance(1);
    thread_.WakeBy(clock_.NowNs());
    Await([call] { return call->endings() == 1; });
    TakeBack();
  }

  // The lane's batches come back, and the test takes them.
  void TakeBack() {
    while (const std::optional<FakeWorker::Job> job = worker_->Take()) worker_->Complete(*job);
    Drain();
  }

  Plane plane_{&clock_};
  CompletionThread thread_{&plane_, &clock_, {kNever, kNever}};
  FakeWorker* worker_ = nullptr;
  std::shared_ptr<WorkerLink> link_;
  std::atomic<int> given_up_{0};
};

TEST_F(CompletionThreadTest, GivesTheRepliesOfWhatABellTells) {
  Start();
  ASSERT_TRUE(plane_.bells().Watch(link_, [] {}).ok());
  FakeCall* call = Submit(7);
  worker_->Complete(worker_->Take().value());
  Ring();
  Await([call] { return call->endings() == 1; });
  EXPECT_EQ(call->Answer(), Rows(7));
  Await([this] { return !Rings(); });
  thread_.Stop();
  EXPECT_EQ(model_.metrics.timeout_wakeups, 0u);
}

TEST_F(CompletionThreadTest, HearsAWorkerThatComesWhileItSleeps) {
  Start();
  ASSERT_TRUE(plane_.bells().Watch(link_, [] {}).ok());
  Ring();
  Await([this] { return !Rings(); });
}

TEST_F(CompletionThreadTest, TicksWhenItIsAskedTo) {
  Start();
  FakeCall* call = Submit(1, 1, 10);
  clock_.Advance(10);
  thread_.WakeBy(clock_.NowNs());
  Await([call] { return call->endings() == 1; });
  EXPECT_EQ(call->status().code(), absl::StatusCode::kDeadlineExceeded);
  TakeBack();
}

TEST_F(CompletionThreadTest, TicksAtTheBusyPaceWhileOneRequestIsInside) {
  Make();
  FakeCall* call = Submit(1, 1, 10);
  Plane plane(&clock_);
  plane.Add(pool_.get());
  CompletionThread thread(&plane, &clock_, {/*busy_ns=*/5, /*idle_ns=*/kNever});
  ASSERT_TRUE(thread.Start().ok());
  AwaitParked();
  clock_.Advance(10);
  Await([call] { return call->endings() == 1; });
  thread.Stop();
  EXPECT_EQ(call->status().code(), absl::StatusCode::kDeadlineExceeded);
  TakeBack();
}

// A door's thread that sleeps in `ear`, beside the completion thread.
struct DoorThread {
  explicit DoorThread(Plane* the_plane) : plane(the_plane) { FallAsleep(); }

  void FallAsleep() {
    plane->Wake();
    while (!plane->ParkAndHear(&ear)) {
    }
  }
  bool Hears(int64_t timeout_ns) const { return !ear.Wait(timeout_ns).empty(); }

  Plane* const plane;
  platform::Poller ear = platform::Poller::Create().value();
};

TEST_F(CompletionThreadTest, ADoorsThreadHearsTheBellsInItsPlace) {
  Start();
  ASSERT_TRUE(plane_.bells().Watch(link_, [] {}).ok());
  DoorThread door(&plane_);
  FakeCall* call = Submit(7);
  worker_->Complete(worker_->Take().value());
  Ring();
  EXPECT_TRUE(door.Hears(kNever));
  EXPECT_TRUE(Rings());
  EXPECT_EQ(call->endings(), 0) << "the other thread sleeps on";
  EXPECT_TRUE(plane_.Wake());
  plane_.bells().Clear();
  EXPECT_FALSE(door.Hears(0));
  EXPECT_EQ(plane_.Drain(), 1u);
  EXPECT_EQ(call->endings(), 1);
  EXPECT_TRUE(plane_.Park());
  plane_.bells().Leave(&door.ear);
}

TEST_F(CompletionThreadTest, TheDoorsThreadThatSleptLastHears) {
  Start();
  ASSERT_TRUE(plane_.bells().Watch(link_, [] {}).ok());
  DoorThread first(&plane_);
  DoorThread second(&plane_);
  Ring();
  EXPECT_TRUE(second.Hears(kNever));
  EXPECT_FALSE(first.Hears(0));
  first.FallAsleep();
  EXPECT_TRUE(first.Hears(kNever));
  EXPECT_FALSE(second.Hears(0));
  plane_.bells().Leave(&second.ear);
  EXPECT_TRUE(first.Hears(0));
  plane_.bells().Leave(&first.ear);
  Await([this] { return !Rings(); });  // the completion thread hears
}

TEST_F(CompletionThreadTest, ABellThatADoorsThreadHearsIsNoneThatWasMissing) {
  Start();
  ASSERT_TRUE(plane_.bells().Watch(link_, [] {}).ok());
  DoorThread door(&plane_);
  for (const bool rings : {true, false}) {
    FakeCall* call = Submit(7);
    worker_->Complete(worker_->Take().value());
    if (rings) Ring();
    plane_.WakeByTimeOut();
    plane_.Drain();
    EXPECT_EQ(call->endings(), 1);
    EXPECT_EQ(model_.metrics.timeout_wakeups, rings ? 0u : 1u);
    plane_.bells().Clear();
    EXPECT_TRUE(plane_.Park());
  }
  plane_.bells().Leave(&door.ear);
}

TEST_F(CompletionThreadTest, ABellThatRingsForNothingTooOftenIsGivenUpOnce) {
  Start();
  ASSERT_TRUE(plane_.bells().Watch(link_, [this] { ++given_up_; }).ok());
  uint32_t rings = 0;
  while (given_up_ == 0) {
    Ring();
    ++rings;
    Await([this] { return !Rings() || given_up_ > 0; });
  }
  EXPECT_GT(rings, BellWatch::kEmptyRingsPerSecond);
  Ring();
  AwaitTick();
  AwaitParked();
  EXPECT_TRUE(Rings()) << "it is not heard any more";
  EXPECT_EQ(given_up_, 1);
}

TEST_F(CompletionThreadTest, AnHonestWorkersRingsArePaidForByItsCompletions) {
  Start();
  ASSERT_TRUE(plane_.bells().Watch(link_, [this] { ++given_up_; }).ok());
  for (uint32_t i = 0; i < BellWatch::kEmptyRingsPerSecond + 100; ++i) {
    FakeCall* call = Submit(1);
    worker_->Complete(worker_->Take().value());
    Ring();
    Await([&] { return call->endings() == 1 && !Rings(); });
  }
  EXPECT_EQ(given_up_, 0);
}

TEST_F(CompletionThreadTest, ABellThatIsNotWatchedAnyMoreIsLeftAlone) {
  Start();
  ASSERT_TRUE(plane_.bells().Watch(link_, [this] { ++given_up_; }).ok());
  plane_.bells().Unwatch(*link_);
  plane_.bells().Unwatch(*link_);
  Ring();
  AwaitTick();
  AwaitParked();
  EXPECT_TRUE(Rings());
  EXPECT_EQ(given_up_, 0);
}

TEST_F(CompletionThreadTest, ItIsParkedOnceItHasStopped) {
  Start();
  thread_.Stop();
  thread_.Stop();
  EXPECT_NE(worker_->mailbox_page().front_parked.load(), 0u);
  EXPECT_TRUE(plane_.Wake()) << "no other thread is awake";
  plane_.Park();
}

TEST_F(CompletionThreadTest, ATickThatIsAskedForBeforeItStartsIsNotForgotten) {
  Make();
  FakeCall* call = Submit(1, 1, 10);
  clock_.Advance(10);
  thread_.WakeBy(clock_.NowNs());
  StartThread();
  Await([call] { return call->endings() == 1; });
  TakeBack();
}

}  // namespace
}  // namespace mpsd

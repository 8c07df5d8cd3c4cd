// The pool under another scheduler: it does what is decided, no more and no less.
#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "server/pool/schedule/scheduler.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

const SchedulerDecision kWait = SchedulerDecision::WaitUntil(SchedulerDecision::kNever);

// Decides what the test says, and remembers what it was shown.
class ScriptedScheduler final : public Scheduler {
 public:
  SchedulerDecision Decide(const SchedulerSnapshot& snapshot, int64_t now_ns) const override {
    return decide(snapshot, now_ns);
  }

  static SchedulerDecision Wait(const SchedulerSnapshot&, int64_t) { return kWait; }

  std::function<SchedulerDecision(const SchedulerSnapshot&, int64_t)> decide = Wait;
};

class DispatcherTest : public PoolFixture {
 protected:
  DispatcherTest() {
    PoolOptions options;
    options.lane_depth = 2;
    options.scheduler = scheduler_;
    pool_ = std::make_unique<Pool>(&model_, options, &clock_, &replies_, &keeper_);
    pool_->memory()->Add(OwnedSegment::Create(SegmentKind::kSlabs, 4 << 20, 0).value());
  }

  // The next decision is this one, then to wait.
  void DecideOnce(const SchedulerDecision& decision) {
    bool decided = false;
    scheduler_->decide = [&](const SchedulerSnapshot&, int64_t) {
      if (std::exchange(decided, true)) return kWait;
      return decision;
    };
    pool_->Tick();
    scheduler_->decide = ScriptedScheduler::Wait;
    pool_->CheckInvariants();
  }

  const std::shared_ptr<ScriptedScheduler> scheduler_ = std::make_shared<ScriptedScheduler>();
};

TEST_F(DispatcherTest, NothingRunsUntilItIsDecided) {
  FakeWorker* worker = AddWorker(0, 2);
  FakeCall* call = Submit(1);
  EXPECT_FALSE(worker->Take(0).has_value());
  DecideOnce(SchedulerDecision::Run(0, 1, 4));
  EXPECT_FALSE(worker->Take(0).has_value());
  const std::optional<FakeWorker::Job> job = worker->Take(1);
  ASSERT_TRUE(job.has_value()) << "on the lane that was decided";
  worker->Complete(*job);
  Drain();
  EXPECT_EQ(call->Answer(), Rows(1));
}

TEST_F(DispatcherTest, ABatchHasAtMostTheRowsThatAreDecided) {
  FakeWorker* worker = AddWorker();
  for (int i = 0; i < 4; ++i) Submit(1);
  DecideOnce(SchedulerDecision::Run(0, 0, 3));
  EXPECT_EQ(worker->Take()->row_count, 3u);
  EXPECT_EQ(model_.metrics.queued_requests, 1);
  Kill(0, WorkerEnd::kKilled);
  pool_->FailAll("the end");
}

TEST_F(DispatcherTest, TheSupervisorIsAskedToTickInTime) {
  AddWorker();
  Submit(1, 1, kNsPerSecond);
  DecideOnce(SchedulerDecision::WaitUntil(clock_.NowNs() + 77));
  EXPECT_EQ(keeper_.wake_by_ns(), clock_.NowNs() + 77);
  pool_->FailAll("the end");
}

// A scheduler may drop a request early: one that can no longer be served in time.
TEST_F(DispatcherTest, DroppedRequestsEndAsExpired) {
  FakeCall* early = Submit(1, 1, 100);
  FakeCall* late = Submit(1, 1, 200);
  DecideOnce(SchedulerDecision::Drop(0, clock_.NowNs() + 100));
  EXPECT_EQ(early->status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(late->endings(), 0);
  pool_->FailAll("the end");
}

TEST_F(DispatcherTest, TheSnapshotShowsLinesLanesAndWorkers) {
  AddWorker(0, 2);
  const int64_t arrival_ns = clock_.NowNs();
  Submit(1, 2, 500);
  Submit(1, 1, 300);
  int seen = 0;
  scheduler_->decide = [&](const SchedulerSnapshot& snapshot, int64_t now_ns) {
    ++seen;
    EXPECT_EQ(now_ns, clock_.NowNs());
    EXPECT_EQ(snapshot.max_batch_rows, 4u);
    EXPECT_EQ(snapshot.lines.size(), 1u);
    EXPECT_EQ(snapshot.lines[0], (LineView{3, 1, arrival_ns, arrival_ns + 300, arrival_ns + 300,
                                           arrival_ns + 500, snapshot.lines[0].curve}));
    EXPECT_NE(snapshot.lines[0].curve, nullptr);
    EXPECT_TRUE(snapshot.suspects.empty());
    EXPECT_EQ(snapshot.lanes.size(), 2u);
    EXPECT_EQ(snapshot.workers.size(), 1u);
    EXPECT_TRUE(snapshot.workers[0].takes_batches);
    return kWait;
  };
  pool_->Tick();
  EXPECT_EQ(seen, 1);
  pool_->FailAll("the end");
}

TEST_F(DispatcherTest, TheSnapshotShowsHowLargeBatchesUsuallyAre) {
  FakeWorker* worker = AddWorker();
  const auto run_all = [](const SchedulerSnapshot& snapshot, int64_t) {
    const bool may_run = snapshot.lines[0].rows > 0 && snapshot.lanes[0].batches == 0;
    return may_run ? SchedulerDecision::Run(0, 0, 4) : kWait;
  };
  for (int batch = 0; batch < 20; ++batch) {
    scheduler_->decide = [](const SchedulerSnapshot&, int64_t) { return kWait; };
    for (int i = 0; i < 3; ++i) Submit(1);
    scheduler_->decide = run_all;
    Serve(worker);
  }
  uint32_t usual_rows = 0;
  scheduler_->decide = [&](const SchedulerSnapshot& snapshot, int64_t) {
    usual_rows = snapshot.usual_batch_rows;
    return kWait;
  };
  Submit(1);
  EXPECT_EQ(usual_rows, 3u);
  pool_->FailAll("the end");
}

TEST_F(DispatcherTest, ADecisionThatCannotBeCarriedOutIsABug) {
  AddWorker();
  EXPECT_DEATH(
      {
        Submit(1);
        DecideOnce(SchedulerDecision::Drop(0, clock_.NowNs()));
      },
      "check failed")
      << "nothing would change";
  EXPECT_DEATH(
      {
        Submit(1);
        pool_->workers()->Quiesce(0);
        DecideOnce(SchedulerDecision::Run(0, 0, 4));
      },
      "check failed")
      << "the worker takes no batches";
}

// Suspects whose worker has no room for their outputs hinder nobody else.
TEST_F(DispatcherTest, AMissingOutputRoomIsShown) {
  FakeWorker* worker = AddWorker();
  const std::shared_ptr<WorkerLink> link = workers_[0].link;
  OutputLease* all = link->LeaseOutput(link->outputs().bytes / 64 * 64);
  ASSERT_NE(all, nullptr);
  Submit(1);
  DecideOnce(SchedulerDecision::Run(0, 0, 4));
  EXPECT_FALSE(worker->Take().has_value());
  EXPECT_EQ(model_.metrics.queued_requests, 1) << "back in its line";
  all->Unref();
  DecideOnce(SchedulerDecision::Run(0, 0, 4));
  worker->Complete(worker->Take().value());
  Drain();
}

}  // namespace
}  // namespace mpsd

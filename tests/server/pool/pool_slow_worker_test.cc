// A worker that takes longer than the others: it gets little, until it has recovered.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <vector>

#include "server/pool/schedule/lane_choice.h"
#include "server/pool/slow_workers.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

// Two workers of one lane, in virtual time. Each client has one request inside.
class PoolSlowWorkerTest : public PoolFixture {
 protected:
  static constexpr int64_t kUsualNs = 10 * kNsPerMs;  // a batch's time, whatever its rows
  static constexpr int64_t kLongNs = 3600 * kNsPerSecond;

  struct Running {
    FakeWorker* side = nullptr;
    double factor = 1;  // its batches take so many times as long
    std::optional<FakeWorker::Job> job;
    int64_t ends_ns = 0;
    int batches = 0;
  };

  PoolSlowWorkerTest() {
    MakePool();
    for (uint32_t i = 0; i < 2; ++i) running_[i].side = AddWorker(i);
  }

  // So many batches run. The clients send their next requests when they are answered.
  void Run(uint32_t clients, int batches) {
    for (int done = 0; done < batches; ++done) {
      while (inside_.size() < clients) inside_.push_back(Submit(1, 1, kLongNs));
      RunOne();
    }
  }

  // No client sends a further request, and all are answered.
  void Finish() {
    while (!inside_.empty()) RunOne();
  }

  // The batch that ends first ends.
  void RunOne() {
    Running* first = nullptr;
    for (Running& worker : running_) {
      if (!worker.job.has_value()) Take(&worker);
      if (!worker.job.has_value()) continue;
      if (first == nullptr || worker.ends_ns < first->ends_ns) first = &worker;
    }
    if (first == nullptr) return Rest();
    clock_.Advance(std::max<int64_t>(0, first->ends_ns - clock_.NowNs()));
    first->side->Complete(*first->job);
    first->job.reset();
    ++first->batches;
    Drain();
    std::erase_if(inside_, [](const FakeCall* call) { return call->endings() > 0; });
  }

  // Nothing runs: the pool waits for a time.
  void Rest() { TickAfter(kNsPerMs); }

  void Take(Running* worker) {
    worker->job = worker->side->Take();
    const double takes_ns = kUsualNs * worker->factor;
    worker->ends_ns = clock_.NowNs() + static_cast<int64_t>(takes_ns);
  }

  // Runs so many batches, and returns how many of them the worker had.
  int BatchesOf(uint32_t worker, uint32_t clients, int batches) {
    const int before = running_[worker].batches;
    Run(clients, batches);
    return running_[worker].batches - before;
  }

  double SlownessOf(uint32_t worker) { return pool_->workers()->Progress(worker).slowness; }

  std::array<Running, 2> running_;
  std::vector<FakeCall*> inside_;
};

TEST_F(PoolSlowWorkerTest, ItIsFoundOutAfterAFewBatchesAndPassedOver) {
  Run(1, 300);
  EXPECT_EQ(SlownessOf(0), 1);
  EXPECT_EQ(SlownessOf(1), 1);
  running_[0].factor = 4;
  Run(1, 2 * Slowness::kRuns);
  EXPECT_GT(SlownessOf(0), kSlowFrom);
  EXPECT_LE(BatchesOf(0, 1, 10 * kProbeEvery), 11) << "its probes";
  EXPECT_EQ(SlownessOf(1), 1);
  Finish();
}

TEST_F(PoolSlowWorkerTest, ItDoesNotPoisonTheCurve) {
  running_[1].factor = 3;
  Run(4, 300);
  EXPECT_GT(BatchesOf(1, 40, 400), 400 / 6);
  Finish();
  FakeCall* running = Submit(1, 1, kLongNs);
  FakeCall* behind = Submit(1, 1, 5 * kUsualNs / 2);
  EXPECT_EQ(behind->endings(), 0) << "there is time for both, as the other worker takes it";
  inside_ = {running, behind};
  Finish();
}

TEST_F(PoolSlowWorkerTest, ItServesAgainSoonAfterItHasRecovered) {
  Run(1, 300);
  running_[0].factor = 4;
  Run(1, 500);
  ASSERT_GT(SlownessOf(0), kSlowFrom);
  running_[0].factor = 1;
  Run(1, kProbeEvery + 2 * static_cast<int>(Slowness::kRuns));
  EXPECT_EQ(SlownessOf(0), 1);
  EXPECT_GT(BatchesOf(0, 1, 100), 90) << "it is the first again";
  Finish();
}

TEST_F(PoolSlowWorkerTest, UnderLoadItStillHelps) {
  running_[1].factor = 3;
  Run(4, 300);
  ASSERT_GT(SlownessOf(1), kSlowFrom);
  const int batches = BatchesOf(1, 40, 400);
  EXPECT_GT(batches, 400 / 6) << "a third of what the other does";
  EXPECT_LT(batches, 400 / 3);
  Finish();
}

TEST_F(PoolSlowWorkerTest, WhereAllAreSlowNoneIs) {
  Run(2, 300);
  for (Running& worker : running_) worker.factor = 5;
  Run(2, 300);
  EXPECT_EQ(SlownessOf(0), 1);
  EXPECT_EQ(SlownessOf(1), 1);
  Finish();
}

TEST_F(PoolSlowWorkerTest, OneLongBatchIsNoSickness) {
  Run(1, 300);
  running_[0].factor = 100;
  Run(1, 1);
  running_[0].factor = 1;
  for (int i = 0; i < 20; ++i) {
    Run(1, 1);
    EXPECT_EQ(SlownessOf(0), 1);
  }
  Finish();
}

TEST_F(PoolSlowWorkerTest, AFreshWorkerMayWarmUp) {
  Run(1, 300);
  Finish();
  Kill(1, WorkerEnd::kKilled);
  running_[1] = {.side = AddWorker(1), .factor = 20};
  while (running_[1].batches < static_cast<int>(SlowWorkers::kWarmUpRuns)) Run(1, 1);
  running_[1].factor = 1;
  for (int i = 0; i < 300; ++i) {
    Run(1, 1);
    ASSERT_EQ(SlownessOf(1), 1) << "after " << running_[1].batches << " batches";
  }
  EXPECT_GE(running_[1].batches, static_cast<int>(SlowWorkers::kWarmUpRuns + Slowness::kRuns));
  Finish();
}

TEST_F(PoolSlowWorkerTest, TheLastOneServesHoweverSlowItIs) {
  Run(1, 300);
  running_[0].factor = 4;
  Run(1, 100);
  ASSERT_GT(SlownessOf(0), kSlowFrom);
  Finish();
  Kill(1, WorkerEnd::kKilled);
  running_[1] = {};
  EXPECT_EQ(SlownessOf(0), 1) << "there is no other to compare it with";
  FakeCall* call = Submit(1, 1, kLongNs);
  const std::optional<FakeWorker::Job> job = running_[0].side->Take();
  ASSERT_TRUE(job.has_value());
  running_[0].side->Complete(*job);
  Drain();
  EXPECT_EQ(call->endings(), 1);
}

}  // namespace
}  // namespace mpsd

// Many threads on one pool: run it under the thread sanitizer.
#include <atomic>
#include <random>
#include <thread>

#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

class PoolStress : public PoolFixture {
 protected:
  static constexpr int kClients = 3;
  static constexpr int kCallsOfAClient = 300;
  static constexpr uint32_t kLanes = 2;

  // One client: keeps a few calls open, cancels some, looks at each answer.
  void Client(uint32_t seed) {
    std::mt19937 random(seed);
    std::deque<std::pair<std::unique_ptr<FakeCall>, float>> open;
    for (int i = 0; i < kCallsOfAClient; ++i) {
      const auto value = static_cast<float>(seed * 1000 + static_cast<uint32_t>(i));
      open.emplace_back(Send(random() % 4 + 1, value, random), value);
      if (random() % 8 == 0) CancelOne(open[random() % open.size()].first.get());
      if (open.size() >= 8) Close(&open);
    }
    while (!open.empty()) Close(&open);
  }

  std::unique_ptr<FakeCall> Send(uint32_t rows, float value, std::mt19937& random) {
    auto call = std::make_unique<FakeCall>(random() % 4 == 0);
    const int64_t timeout_ns = random() % 16 == 0 ? kNsPerMs : 3600 * kNsPerSecond;
    call->Describe(rows, {2}, clock_.NowNs(), timeout_ns);
    RowTargets targets;
    const absl::Status status = pool_->Reserve(&call->request, &targets);
    if (!status.ok()) {
      call->request.reply.Fail(status);
      return call;
    }
    call->Fill(targets, value);
    pool_->Commit(&call->request);
    return call;
  }

  void CancelOne(FakeCall* call) {
    if (call->request.queue != nullptr) pool_->Cancel(&call->request);
  }

  // Waits for the oldest call to end, draining as a door thread does.
  void Close(std::deque<std::pair<std::unique_ptr<FakeCall>, float>>* open) {
    FakeCall* call = open->front().first.get();
    while (call->endings() == 0) {
      pool_->Drain();
      std::this_thread::yield();
    }
    if (call->status().ok()) {
      EXPECT_EQ(call->Answer(), Rows(open->front().second, call->request.rows));
      ++answered_;
    }
    if (call->sink.memory() != nullptr) call->sink.DropMemory();
    EXPECT_EQ(call->endings(), 1);
    open->pop_front();
  }

  // One lane of an honest worker.
  void Lane(FakeWorker* worker, uint32_t lane) {
    while (!stop_.load(std::memory_order_relaxed)) {
      const std::optional<FakeWorker::Job> job = worker->Take(lane);
      if (job.has_value()) {
        worker->Complete(*job);
      } else {
        std::this_thread::yield();
      }
    }
  }

  // Time passes, deadlines expire, and worker 1 is killed and started again now and then.
  void Supervise() {
    for (uint32_t round = 0; !stop_.load(std::memory_order_relaxed); ++round) {
      TickAfter(kNsPerMs / 8);
      pool_->CheckInvariants();
      if (round % 64 == 0) {
        pool_->workers()->Detach(1, WorkerEnd::kKilled);
        absl::StatusOr<std::shared_ptr<WorkerLink>> link =
            WorkerLink::Create(pool_->workers()->LinkOptions(1, round + 1, 1));
        MPSD_CHECK(link.ok());
        pool_->workers()->Attach(*std::move(link));  // it takes batches and never answers
      }
      std::this_thread::yield();
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<int> answered_{0};
};

TEST_F(PoolStress, EveryRequestEndsOnceWithItsOwnBytes) {
  PoolOptions options;
  options.lane_depth = 2;
  MakePool(options, 1 << 16);
  FakeWorker* worker = AddWorker(0, kLanes);
  std::vector<std::thread> clients;
  std::vector<std::thread> others;
  for (uint32_t i = 1; i <= kClients; ++i) clients.emplace_back([this, i] { Client(i); });
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    others.emplace_back([this, worker, lane] { Lane(worker, lane); });
  }
  others.emplace_back([this] { Supervise(); });
  for (std::thread& client : clients) client.join();
  while (pool_->busy()) {
    pool_->Drain();
    pool_->Tick();
    pool_->workers()->Detach(1, WorkerEnd::kKilled);
  }
  stop_ = true;
  for (std::thread& other : others) other.join();
  pool_->workers()->Detach(1, WorkerEnd::kKilled);
  Drain();
  pool_->CheckInvariants();
  EXPECT_GT(answered_, 0);
  EXPECT_TRUE(keeper_.condemned().empty());
}

}  // namespace
}  // namespace mpsd

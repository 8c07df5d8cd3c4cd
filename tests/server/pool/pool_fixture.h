// PoolFixture: a pool with workers inside the test.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "server/pool/pool.h"
#include "server/pool/pool_memory.h"
#include "server/pool/pool_workers.h"
#include "server/pool/reply/answer_step.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_pool_keeper.h"
#include "tests/fakes/fake_worker.h"

namespace mpsd {

// A model of batches of at most four rows, whose one output is its one input, two floats a row. The
// first worker or request makes a pool with the usual options, unless the test has made one.
// Lives on the test's thread; the pool and the clock in it are thread-safe.
class PoolFixture : public testing::Test {
 protected:
  static constexpr int64_t kTimeoutNs = kNsPerSecond;

  // An incarnation of a worker.
  struct Worker {
    std::shared_ptr<WorkerLink> link;
    std::unique_ptr<FakeWorker> side;
  };

  PoolFixture() {
    model_.name = "m";
    model_.spec.max_batch_size = 4;
    model_.spec.inputs = {{"IN", DataType::kFp32, {2}}};
    model_.spec.outputs = {{"OUT", DataType::kFp32, {2}}};
  }

  // Nothing is left behind, in no counter and in no memory.
  void TearDown() override {
    if (pool_ == nullptr) return;
    pool_->Tick();  // the gauges show the state of the last tick
    pool_->CheckInvariants();
    EXPECT_EQ(pool_->inside(), 0);
    EXPECT_FALSE(pool_->busy());
    EXPECT_EQ(model_.metrics.queued_requests, 0);
    EXPECT_EQ(model_.metrics.queued_bytes, 0);
    EXPECT_EQ(model_.metrics.output_leases, 0);
    for (const FakeCall& call : calls_) EXPECT_EQ(call.endings(), 1);
    for (const Worker& worker : workers_) ExpectNoLease(worker.link.get());
    EndLeftovers();
  }

  // So that a test that failed ends like one that did not.
  void EndLeftovers() {
    for (const Worker& worker : workers_)
      pool_->workers()->Detach(worker.link->worker(), WorkerEnd::kKilled);
    pool_->FailAll("left over");
    for (FakeCall& call : calls_) {
      if (call.request.reply.owed()) call.request.reply.Fail(absl::UnknownError("left over"));
    }
  }

  void MakePool(const PoolOptions& options = {}, uint64_t slab_bytes = 4 << 20) {
    pool_ = std::make_unique<Pool>(&model_, options, &clock_, &replies_, &keeper_);
    OwnedSegment slabs = OwnedSegment::Create(SegmentKind::kSlabs, slab_bytes, 0).value();
    pool_->memory()->Add(std::move(slabs));
  }

  // The same with a worker of one lane.
  FakeWorker* MakePoolOfOne(const PoolOptions& options = {}) {
    MakePool(options);
    return AddWorker();
  }

  // Starts a worker and attaches it.
  FakeWorker* AddWorker(uint32_t index = 0, uint32_t lanes = 1) {
    if (pool_ == nullptr) MakePool();
    return AddWorkerWith(pool_->workers()->LinkOptions(index, ++epoch_, lanes));
  }

  FakeWorker* AddWorkerWith(const WorkerLink::Options& options) {
    absl::StatusOr<std::shared_ptr<WorkerLink>> link = WorkerLink::Create(options);
    MPSD_CHECK(link.ok());
    Worker& worker = workers_.emplace_back();
    worker.link = *std::move(link);
    worker.side =
        std::make_unique<FakeWorker>(*worker.link, pool_->memory()->Descriptors(), &clock_);
    pool_->workers()->Attach(worker.link);
    return worker.side.get();
  }

  // The worker of that index dies. Returns what its death was put down to.
  Conviction Kill(uint32_t index, WorkerEnd end = WorkerEnd::kCrashed) {
    const Conviction conviction = pool_->workers()->Detach(index, end);
    pool_->CheckInvariants();
    for (auto it = workers_.begin(); it != workers_.end(); ++it) {
      if (it->link->worker() != index) continue;
      workers_.erase(it);
      break;
    }
    return conviction;
  }

  // Two workers crash one after the other, with what they got. Returns what the second death was
  // put down to.
  Conviction CrashTwo() {
    AddWorker();
    EXPECT_EQ(Kill(0), Conviction::kSuspicion) << "one death convicts nobody";
    AddWorker();
    return Kill(0);
  }

  // Reserves, fills with `value` and commits a request.
  FakeCall* Submit(float value, uint32_t rows = 1, int64_t timeout_ns = kTimeoutNs,
                   bool keep_memory = false) {
    return Enter(NewCall(rows, timeout_ns, keep_memory), value);
  }

  // The same with a request that the test has made.
  FakeCall* Enter(FakeCall* call, float value) {
    if (pool_ == nullptr) MakePool();
    RowTargets targets;
    const absl::Status status = pool_->Reserve(&call->request, &targets);
    if (!status.ok()) {
      call->request.reply.Fail(status);
      return call;
    }
    call->Fill(targets, value);
    pool_->Commit(&call->request);
    pool_->CheckInvariants();
    return call;
  }

  FakeCall* NewCall(uint32_t rows = 1, int64_t timeout_ns = kTimeoutNs, bool keep_memory = false) {
    FakeCall& call = calls_.emplace_back(keep_memory);
    call.Describe(rows, model_.spec.inputs[0].dims, clock_.NowNs(), timeout_ns);
    return &call;
  }

  // The pool's own tick at that time.
  void TickAfter(int64_t ns) {
    clock_.Advance(ns);
    pool_->Tick();
  }

  size_t Drain() {
    const size_t count = pool_->Drain();
    pool_->CheckInvariants();
    return count;
  }

  // The worker answers one batch.
  void Complete(FakeWorker* worker, const FakeWorker::Job& job) {
    worker->Complete(job);
    Drain();
  }

  // Worker 0 is killed, and the next incarnation answers.
  void ServeByAnother() {
    Kill(0, WorkerEnd::kKilled);
    Serve(AddWorker(0));
  }

  // The worker answers all that it has got and gets; its lanes in turn.
  void Serve(FakeWorker* worker) {
    for (bool busy = true; busy;) {
      Drain();
      busy = false;
      for (uint32_t lane = 0; lane < worker->lanes(); ++lane) {
        while (std::optional<FakeWorker::Job> job = worker->Take(lane)) {
          worker->Complete(*job);
          busy = true;
        }
      }
    }
  }

  static std::vector<float> Rows(float value, uint32_t rows = 1) {
    return std::vector<float>(2 * rows, value);
  }

  // The whole output area can be leased: no lease is out.
  static void ExpectNoLease(WorkerLink* link) {
    OutputLease* lease = link->LeaseOutput(link->outputs().bytes / 64 * 64);
    ASSERT_NE(lease, nullptr);
    lease->Unref();
    link->ReapReleased();
    EXPECT_EQ(link->pinned_bytes(), 0u);
  }

  FakeClock clock_;
  ServedModel model_;
  AnswerStep replies_{&clock_};
  FakePoolKeeper keeper_;
  uint32_t epoch_ = 0;
  std::deque<FakeCall> calls_;
  std::unique_ptr<Pool> pool_;
  std::vector<Worker> workers_;
};

}  // namespace mpsd

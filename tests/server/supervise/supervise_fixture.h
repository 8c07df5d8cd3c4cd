// SuperviseFixture: what supervision works with, where everything outside this process is a fake.
#pragma once

#include <gmock/gmock.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/pool/pool_workers.h"
#include "server/pool/reply/answer_step.h"
#include "server/supervise/supervise_services.h"
#include "server/supervise/supervised_model.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_pool_keeper.h"
#include "tests/fakes/fake_worker.h"
#include "tests/fakes/fake_worker_bells.h"
#include "tests/fakes/fake_worker_host.h"

namespace mpsd {

// A model of batches of at most four rows, whose one output is its one input, two floats a row.
// Lives on the test's thread, which is the supervisor's too.
class SuperviseFixture : public testing::Test {
 protected:
  SuperviseFixture() {
    services_.plane = &plane_;
    services_.keeper = &keeper_;
    services_.clock = &clock_;
    services_.logger = &logger_;
    services_.host = &host_;
    services_.bells = &bells_;
    services_.board = &board_;
    services_.budget = &budget_;
    services_.jitter = [] { return 0.0; };
    services_.thread.Check();
    services_.own_time.Advance(clock_.NowNs());
  }

  static ModelSpec Spec() {
    ModelSpec spec;
    spec.max_batch_size = 4;
    spec.inputs = {{"IN", DataType::kFp32, {2}}};
    spec.outputs = {{"OUT", DataType::kFp32, {2}}};
    return spec;
  }

  static LoadReport Report() {
    LoadReport report;
    report.spec = Spec();
    report.device = "cpu";
    return report;
  }

  SupervisedModel MakeModel(PoolKeeper* keeper, uint32_t processes = 1) {
    SupervisedModel model;
    model.served = std::make_shared<ServedModel>();
    model.served->name = "m";
    auto pool =
        std::make_unique<Pool>(model.served.get(), PoolOptions(), &clock_, &replies_, keeper);
    model.pool = pool.get();
    model.served->queue = std::move(pool);
    model.order.model = "m";
    model.order.format = ModelFormat::kSynthetic;
    model.processes.resize(processes);
    model.first_segment_bytes = [](const ModelSpec&) { return uint64_t{4} << 20; };
    model.limits.circuit.deaths = 0;
    return model;
  }

  // Reserves, fills and commits a request of one row.
  FakeCall* Submit(Pool* pool, float value, int64_t timeout_ns = 1000 * kNsPerSecond) {
    FakeCall& call = calls_.emplace_back();
    call.Describe(1, {2}, clock_.NowNs(), timeout_ns);
    RowTargets targets;
    const absl::Status status = pool->Reserve(&call.request, &targets);
    if (!status.ok()) {
      call.request.reply.Fail(status);
      return &call;
    }
    call.Fill(targets, value);
    pool->Commit(&call.request);
    return &call;
  }

  // Answers every batch that the worker has.
  static void Answer(FakeWorker* side, Pool* pool) {
    while (std::optional<FakeWorker::Job> job = side->Take()) side->Complete(*job);
    pool->Drain();
  }

  FakeClock clock_;
  ServerMetrics metrics_;
  Logger logger_{*LogFile::Open("/dev/null"), LogLevel::kError, &clock_, &metrics_};
  AnswerStep replies_{&clock_};
  Plane plane_{&clock_};
  FakePoolKeeper keeper_;
  StatusBoard board_{&clock_};
  MemoryBudget budget_{256 << 20};
  FakeWorkerHost host_{&clock_};
  FakeWorkerBells bells_;
  SuperviseServices services_;
  std::deque<FakeCall> calls_;
};

}  // namespace mpsd

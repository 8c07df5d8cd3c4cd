// The plane takes no memory from the heap for a request once it is warm: every operator new between
// Reserve() and the reply is counted.
#include <gtest/gtest.h>

#include <array>

#include "server/pool/pool.h"
#include "server/pool/pool_memory.h"
#include "server/pool/pool_workers.h"
#include "server/pool/reply/answer_step.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_pool_keeper.h"
#include "tests/fakes/fake_worker.h"
#include "tests/fakes/heap_count.h"

namespace mpsd {
namespace {

// Replies that are only counted.
class CountingSink final : public ReplySink {
 public:
  void Send(const Answer& answer) override {
    ++answers;
    outputs += static_cast<int>(answer.outputs.size());
  }
  void Fail(const absl::Status&) override { ++failures; }

  int answers = 0;
  int outputs = 0;
  int failures = 0;
};

class Allocations : public testing::Test {
 protected:
  static constexpr int kWarmUp = 200;
  static constexpr int kRequests = 1000;
  static constexpr int kTogether = 5;

  // A model of three inputs and three outputs, as an encoder has.
  Allocations() {
    model_.spec.max_batch_size = 8;
    model_.spec.inputs = {{"IDS", DataType::kInt64, {-1}},
                          {"MASK", DataType::kInt64, {-1}},
                          {"TYPES", DataType::kInt64, {-1}}};
    model_.spec.outputs = model_.spec.inputs;
    PoolOptions options;
    options.lane_depth = 2;
    pool_ = std::make_unique<Pool>(&model_, options, &clock_, &replies_, &keeper_);
    pool_->memory()->Add(OwnedSegment::Create(SegmentKind::kSlabs, 4 << 20, 0).value());
    link_ = WorkerLink::Create(pool_->workers()->LinkOptions(0, 1, 1)).value();
    worker_ = std::make_unique<FakeWorker>(*link_, pool_->memory()->Descriptors(), &clock_);
    pool_->workers()->Attach(link_);
  }
  ~Allocations() override { pool_->workers()->Detach(0, WorkerEnd::kKilled); }

  // A request of one row, as admission leaves it.
  void Describe(Request* request, int64_t length) {
    request->Reset();
    request->arrival_ns = clock_.NowNs();
    request->deadline_ns = clock_.NowNs() + kNsPerSecond;
    for (uint32_t i = 0; i < 3; ++i) {
      RequestInput& input = request->inputs.emplace_back();
      input.datatype = DataType::kInt64;
      input.dims = input.padded_dims = {length};
      input.row_bytes = static_cast<uint64_t>(length) * 8;
      request->key.push_back(length);
      request->wanted_outputs.push_back(i);
    }
    request->reply = Reply(&sink_);
  }

  // A few requests go in and come back as one batch or two. The plane is counted, not the worker.
  void Round(int64_t length) {
    for (Request& request : requests_) {
      Describe(&request, length);
      bool reserved = false;
      {
        const HeapCount counting(&allocations_);
        RowTargets targets;
        reserved = pool_->Reserve(&request, &targets).ok();
        if (reserved) pool_->Commit(&request);
      }
      ASSERT_TRUE(reserved);
    }
    while (pool_->inside() > 0) {
      const std::optional<FakeWorker::Job> job = worker_->Take();
      ASSERT_TRUE(job.has_value());
      worker_->Complete(*job);
      const HeapCount counting(&allocations_);
      pool_->Drain();
    }
    const HeapCount counting(&allocations_);
    pool_->Tick();
  }

  void Run(int requests) {
    for (int i = 0; i < requests; i += kTogether) Round(16 + 16 * (i % 3));
  }

  FakeClock clock_;
  ServedModel model_;
  AnswerStep replies_{&clock_};
  FakePoolKeeper keeper_;
  CountingSink sink_;
  std::unique_ptr<Pool> pool_;
  std::shared_ptr<WorkerLink> link_;
  std::unique_ptr<FakeWorker> worker_;
  std::array<Request, kTogether> requests_;
  int allocations_ = 0;
};

TEST_F(Allocations, ThereAreNoneForARequestOnceThePlaneIsWarm) {
  Run(kWarmUp);
  allocations_ = 0;
  Run(kRequests);
  EXPECT_EQ(allocations_, 0) << "for " << kRequests << " requests";
  EXPECT_EQ(sink_.answers, kWarmUp + kRequests);
  EXPECT_EQ(sink_.outputs, 3 * sink_.answers);
  EXPECT_EQ(sink_.failures, 0);
}

TEST_F(Allocations, AreCounted) {
  {
    const HeapCount counting(&allocations_);
    pool_->memory()->Descriptors();
  }
  EXPECT_GT(allocations_, 0);
}

}  // namespace
}  // namespace mpsd

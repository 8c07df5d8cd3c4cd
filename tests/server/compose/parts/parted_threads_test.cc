// Parts that end on many threads at once, while their callers leave: for the thread sanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "server/admit/row_writer.h"
#include "server/compose/parts/parted_queue.h"
#include "server/request/served_model.h"

namespace mpsd {
namespace {

constexpr int kRequests = 400;
constexpr int kThreads = 4;
constexpr char kRows[] = "0123456789";

// A pool whose threads answer what was committed, or fail it, in any order.
class ThreadedPool final : public RowQueue {
 public:
  absl::Status Reserve(Request* request, RowTargets* targets) override {
    absl::MutexLock lock(&mu_);
    Entry& entry = entries_.emplace_back();
    entry.request = request;
    entry.rows = std::make_unique<std::string>(request->rows, ' ');
    request->Go(RequestState::kReserved);
    targets->inputs = {entry.rows->data()};
    return absl::OkStatus();
  }
  void Commit(Request* request) override {
    {
      absl::MutexLock lock(&mu_);
      request->Go(RequestState::kQueued);
      if (!request->cancelled) return;
    }
    Cancel(request);
  }
  void Cancel(Request* request) override {
    {
      absl::MutexLock lock(&mu_);
      const auto of_request = [&](const Entry& entry) { return entry.request == request; };
      if (request->state == RequestState::kReserved) request->cancelled = true;
      if (request->state != RequestState::kQueued) return;
      if (std::erase_if(entries_, of_request) == 0) return;
      request->Go(RequestState::kEnded);
    }
    request->reply.Fail(CancelledByClient());
  }
  void Continue(Request*) override {}
  void Close() override {}

  // Ends what comes, until all requests have ended.
  void Run(uint32_t seed, const std::atomic<int>* ended) {
    std::minstd_rand random(seed);
    while (*ended < kRequests) {
      const Entry entry = TakeAny(&random);
      if (entry.request == nullptr) {
        std::this_thread::yield();
      } else if (random() % 20 == 0) {
        entry.request->reply.Fail(absl::InternalError("broke"));
      } else {
        Answer(entry);
      }
    }
  }

 private:
  struct Entry {
    Request* request = nullptr;
    std::unique_ptr<std::string> rows;
  };

  // None where the one that was looked at is not committed.
  Entry TakeAny(std::minstd_rand* random) {
    absl::MutexLock lock(&mu_);
    if (entries_.empty()) return {};
    const auto place = entries_.begin() + static_cast<ptrdiff_t>((*random)() % entries_.size());
    if (place->request->state != RequestState::kQueued) return {};
    Entry entry = std::move(*place);
    entries_.erase(place);
    entry.request->Go(RequestState::kEnded);
    return entry;
  }

  void Answer(const Entry& entry) {
    mpsd::Answer answer;
    AnswerOutput& output = answer.outputs.emplace_back();
    output.name = "y";
    output.datatype = DataType::kUint8;
    output.dims = {entry.request->rows, 1};
    output.bytes = *entry.rows;
    entry.request->reply.Send(answer);
  }

  absl::Mutex mu_;
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mu_);
};

// Counts endings, and looks at the bytes.
class CountingSink final : public ReplySink {
 public:
  void Send(const Answer& answer) override {
    if (answer.outputs.at(0).bytes != kRows) ++wrong;
    ++answered;
    ++ended;
  }
  void Fail(const absl::Status&) override { ++ended; }

  std::atomic<int> answered{0};
  std::atomic<int> wrong{0};
  std::atomic<int> ended{0};
};

// Many requests in ten rows, and batches of three.
class PartedThreads : public testing::Test {
 protected:
  PartedThreads() {
    model_->spec.max_batch_size = 3;
    model_->spec.inputs = {{"x", DataType::kUint8, {1}}};
    model_->spec.outputs = {{"y", DataType::kUint8, {1}}};
    auto pool = std::make_unique<ThreadedPool>();
    pool_ = pool.get();
    model_->queue = std::make_unique<PartedQueue>(std::move(pool), &answers_);
    payload_.Append(kRows);
  }

  void Fill(Request* request) {
    request->model = model_;
    request->rows = sizeof(kRows) - 1;
    RequestInput& input = request->inputs.emplace_back();
    input.datatype = DataType::kUint8;
    input.dims = input.padded_dims = {1};
    input.row_bytes = 1;
    input.payload = &payload_;
    request->wanted_outputs = {0};
    request->filler = &writer_;
    request->reply = Reply(&sink_);
  }

  const RowWriter writer_;
  ByteAllowance answers_{1 << 20};
  const std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  Payload payload_;
  ThreadedPool* pool_ = nullptr;
  CountingSink sink_;
};

TEST_F(PartedThreads, EachRequestEndsOnceWhateverHappensAtOnce) {
  std::deque<Request> requests(kRequests);
  std::vector<std::thread> threads;
  for (uint32_t seed = 1; seed <= kThreads; ++seed) {
    threads.emplace_back([&, seed] { pool_->Run(seed, &sink_.ended); });
  }
  std::minstd_rand random(9);
  for (int i = 0; i < kRequests; ++i) {
    Fill(&requests[static_cast<size_t>(i)]);
    RowTargets targets;
    EXPECT_TRUE(model_->queue->Reserve(&requests[static_cast<size_t>(i)], &targets).ok());
    if (random() % 3 == 0) model_->queue->Cancel(&requests[random() % (i + 1)]);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sink_.ended, kRequests);
  EXPECT_EQ(sink_.wrong, 0);
  EXPECT_GT(sink_.answered, 0);
  EXPECT_LT(sink_.answered, kRequests) << "some failed or were cancelled";
  EXPECT_EQ(answers_.taken_bytes(), 0u);
}

}  // namespace
}  // namespace mpsd

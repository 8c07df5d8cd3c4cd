// Sequences whose requests, answers, cancellations and lanes come on many threads: for the thread
// sanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "server/compose/sequences/sequence_queue.h"
#include "server/request/served_model.h"
#include "tests/server/compose/sequences/copying_filler.h"

namespace mpsd {
namespace {

constexpr int kClients = 3;
constexpr int kRequestsOfClient = 200;

// A pool whose threads answer what was committed, in any order, with the state plus one. It has at
// most one request of a sequence.
class ThreadedPool final : public RowQueue {
 public:
  absl::Status Reserve(Request* request, RowTargets* targets) override {
    absl::MutexLock lock(&mu_);
    Entry& entry = entries_.emplace_back();
    entry.request = request;
    entry.rows = std::make_unique<int64_t[]>(2);
    request->Go(RequestState::kReserved);
    targets->inputs = {reinterpret_cast<char*>(&entry.rows[0]),
                       reinterpret_cast<char*>(&entry.rows[1])};
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

  void Run(uint32_t seed, const std::atomic<bool>* is_over) {
    std::minstd_rand random(seed);
    while (!*is_over) {
      Entry entry = TakeAny(&random);
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
    std::unique_ptr<int64_t[]> rows;  // x, and the state
  };

  Entry TakeAny(std::minstd_rand* random) {
    absl::MutexLock lock(&mu_);
    if (entries_.empty()) return {};
    const size_t place = (*random)() % entries_.size();
    if (entries_[place].request->state != RequestState::kQueued) return {};
    Entry entry = std::move(entries_[place]);
    entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(place));
    entry.request->Go(RequestState::kEnded);
    return entry;
  }
  static void Answer(const Entry& entry) {
    const int64_t state = entry.rows[1] + 1;
    mpsd::Answer answer;
    AnswerOutput output;
    output.name = "count";
    output.datatype = DataType::kInt64;
    output.dims = {1, 1};
    output.bytes = absl::string_view(reinterpret_cast<const char*>(&state), sizeof(state));
    answer.outputs.push_back(output);
    entry.request->reply.Send(answer);
  }

  absl::Mutex mu_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mu_);
};

// Remembers the count that it was told, and how it ended.
class CountSink final : public ReplySink {
 public:
  void Send(const Answer& answer) override {
    int64_t count = 0;
    std::memcpy(&count, answer.outputs[0].bytes.data(), sizeof(count));
    count_ = count;
    endings_.fetch_add(1);
  }
  void Fail(const absl::Status&) override { endings_.fetch_add(1); }

  int endings() const { return endings_; }
  int64_t count() const { return count_; }

 private:
  std::atomic<int> endings_{0};
  std::atomic<int64_t> count_{0};
};

struct Call {
  int64_t x = 0;
  Payload payload;
  SequenceMark mark;
  Request request;
  CountSink sink;
  RowTargets targets;
};

class SequenceThreads : public testing::Test {
 protected:
  SequenceThreads() {
    model_->name = "m";
    model_->spec.max_batch_size = 4;
    model_->spec.inputs = {{"x", DataType::kInt64, {1}}, {"count_in", DataType::kInt64, {1}}};
    model_->spec.outputs = {{"count", DataType::kInt64, {1}}};
    SequencePolicy& policy = model_->facts.sequences.emplace();
    policy.states = {{"count_in", "count", /*is_told=*/true}};
    auto pool = std::make_unique<ThreadedPool>();
    pool_ = pool.get();
    auto queue = std::make_unique<SequenceQueue>(model_.get(), std::move(pool), 1 << 20, &context_);
    queue_ = queue.get();
    model_->queue = std::move(queue);
  }

  void Prepare(Call* call, uint64_t id, bool starts) {
    call->payload.Append(absl::string_view(reinterpret_cast<const char*>(&call->x), 8));
    call->mark.number = id;
    call->mark.starts = starts;
    call->request.model = model_;
    call->request.metrics = &model_->metrics;
    call->request.deadline_ns = INT64_MAX;
    call->request.sequence = &call->mark;
    for (int i = 0; i < 2; ++i) {
      RequestInput& input = call->request.inputs.emplace_back();
      input.datatype = DataType::kInt64;
      input.dims = input.padded_dims = {1};
      input.row_bytes = 8;
    }
    call->request.inputs[0].payload = &call->payload;
    call->request.wanted_outputs = {0};
    call->request.filler = &writer_;
    call->request.reply = Reply(&call->sink);
  }

  // A client that has two requests on their way, starts anew where it must, and leaves some.
  void RunClient(uint64_t id) {
    std::minstd_rand random(static_cast<uint32_t>(id));
    std::deque<Call> calls;
    bool starts = true;
    for (int i = 0; i < kRequestsOfClient; ++i) {
      Call& call = calls.emplace_back();
      Prepare(&call, id, starts || random() % 30 == 0);
      const bool is_in = queue_->Reserve(&call.request, &call.targets).ok();
      starts = !is_in;
      if (!is_in) call.request.reply.Fail(absl::InvalidArgumentError("refused"));
      if (is_in && random() % 15 == 0) queue_->Cancel(&call.request);
      while (i > 0 && calls[static_cast<size_t>(i) - 1].sink.endings() == 0) {
        std::this_thread::yield();
      }
    }
    while (calls.back().sink.endings() == 0) std::this_thread::yield();
    for (const Call& call : calls) EXPECT_EQ(call.sink.endings(), 1);
  }

  const Clock* const clock_ = Clock::Real();
  SequenceContext context_{clock_, 1 << 20};
  const CopyingFiller writer_;
  const std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  ThreadedPool* pool_ = nullptr;
  SequenceQueue* queue_ = nullptr;
};

TEST_F(SequenceThreads, EachRequestEndsOnceWhateverHappens) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> answering;
  for (uint32_t seed : {1, 2}) {
    answering.emplace_back([this, seed, &is_over] { pool_->Run(seed, &is_over); });
  }
  std::thread lanes([this, &is_over] {
    for (uint64_t pin = 1; !is_over; ++pin) {
      const uint64_t pins[] = {pin};
      queue_->LanesJoined(pins);
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      queue_->Tick(clock_->NowNs());
      queue_->LanesLeft(pins);
    }
    const uint64_t pins[] = {1'000'000'000};
    queue_->LanesJoined(pins);
  });
  std::vector<std::thread> clients;
  for (uint64_t id = 1; id <= kClients; ++id) {
    clients.emplace_back([this, id] { RunClient(id); });
  }
  for (std::thread& client : clients) client.join();
  is_over = true;
  lanes.join();
  for (std::thread& thread : answering) thread.join();
  EXPECT_EQ(context_.inside, 0);
  queue_->FailAll("over");
  EXPECT_EQ(context_.states.taken_bytes(), 0u);
  EXPECT_EQ(model_->metrics.open_sequences, 0);
}

}  // namespace
}  // namespace mpsd

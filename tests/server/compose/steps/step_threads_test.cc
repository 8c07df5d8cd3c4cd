// Steps that end on many threads at once, while their callers leave: for the thread sanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "server/compose/steps/graph_members.h"
#include "server/compose/steps/step_queue.h"
#include "tests/fakes/fake_answer_memory.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

constexpr int kRequests = 400;
constexpr int kThreads = 4;

// A queue whose threads answer what is admitted, or fail it, in any order.
class ThreadedQueue final : public RequestQueue {
 public:
  explicit ThreadedQueue(FakeAnswerMemory* memory) : memory_(memory) {}

  absl::Status Reserve(Request*, RowTargets*) override { return absl::AbortedError("closed"); }
  void Close() override {}

  void Put(Request* request, std::vector<std::string> outputs) {
    absl::MutexLock lock(&mu_);
    waiting_.push_back({request, std::move(outputs)});
  }

  void Cancel(Request* request) override {
    {
      absl::MutexLock lock(&mu_);
      const auto of_request = [&](const Entry& entry) { return entry.request == request; };
      if (std::erase_if(waiting_, of_request) == 0) return;
    }
    request->reply.Fail(absl::CancelledError("cancelled"));
  }

  // Answers until all requests have ended.
  void Run(uint32_t seed, const std::atomic<int>* ended) {
    std::minstd_rand random(seed);
    while (*ended < kRequests) {
      Entry entry;
      {
        absl::MutexLock lock(&mu_);
        if (waiting_.empty()) continue;
        const auto place = waiting_.begin() + static_cast<ptrdiff_t>(random() % waiting_.size());
        entry = std::move(*place);
        waiting_.erase(place);
      }
      random() % 20 == 0 ? entry.request->reply.Fail(absl::InternalError("broke")) : Answer(entry);
    }
  }

 private:
  struct Entry {
    Request* request = nullptr;
    std::vector<std::string> outputs;
  };

  void Answer(const Entry& entry) {
    const std::string bytes = "four";
    mpsd::Answer answer;
    answer.memory = memory_;
    for (const std::string& name : entry.outputs) {
      AnswerOutput& output = answer.outputs.emplace_back();
      output.name = name;
      output.datatype = DataType::kUint8;
      output.dims = {4};
      output.bytes = bytes;
    }
    entry.request->reply.Send(answer);
  }

  FakeAnswerMemory* const memory_;
  absl::Mutex mu_;
  std::deque<Entry> waiting_ ABSL_GUARDED_BY(mu_);
};

class ThreadedAdmission final : public InferHandler {
 public:
  ThreadedAdmission(const ModelDirectory* models, ThreadedQueue* queue)
      : models_(models), queue_(queue) {}

  Handled Handle(const InferMessage& message, Request* request) override {
    request->model = models_->Find(message.model);
    request->metrics = &request->model->metrics;
    request->queue = queue_;
    const bool is_later = message.model == "left";
    queue_->Put(request, {message.outputs.begin(), message.outputs.end()});
    return is_later ? Handled::kLater : Handled::kCopied;
  }
  void EncodeTexts(const InferMessage&, Request*, TextWaiter*) override {}

 private:
  const ModelDirectory* const models_;
  ThreadedQueue* const queue_;
};

// Counts endings; a request may be in use again when it returns.
class CountingSink final : public ReplySink {
 public:
  explicit CountingSink(std::atomic<int>* ended) : ended_(ended) {}
  void Send(const Answer& answer) override {
    if (answer.outputs.size() == 2) ++answered;
    ended_->fetch_add(1);
  }
  void Fail(const absl::Status&) override { ended_->fetch_add(1); }

  std::atomic<int> answered{0};

 private:
  std::atomic<int>* const ended_;
};

TensorSpec Bytes(const char* name) { return {name, DataType::kUint8, {-1}}; }

std::shared_ptr<ServedModel> Named(const char* name, std::vector<TensorSpec> inputs,
                                   std::vector<TensorSpec> outputs) {
  auto model = std::make_shared<ServedModel>();
  model->name = name;
  model->spec.inputs = std::move(inputs);
  model->spec.outputs = std::move(outputs);
  model->loaded = model->ready = true;
  return model;
}

TEST(StepThreads, EachRequestEndsOnceWhateverHappensAtOnce) {
  FakeClock clock;
  FakeAnswerMemory memory;
  ServerMetrics metrics;
  ModelDirectory models;
  for (const char* name : {"first", "left", "right"}) {
    models.Publish(Named(name, {Bytes("i")}, {Bytes("o")}));
  }
  models.Publish(Named("join", {Bytes("i"), Bytes("j")}, {Bytes("o")}));
  ThreadedQueue members(&memory);
  ThreadedAdmission admission(&models, &members);
  StepContext context(&admission, &models, &metrics, &clock, 1 << 20);
  const auto whole = Named("whole", {Bytes("x")}, {Bytes("y"), Bytes("l")});
  const std::vector<ModelStep> steps = {{"first", "", {{"i", "x"}}, {{"o", "t"}}},
                                        {"left", "", {{"i", "t"}}, {{"o", "l"}}},
                                        {"right", "", {{"i", "t"}}, {{"o", "r"}}},
                                        {"join", "", {{"i", "l"}, {"j", "r"}}, {{"o", "y"}}}};
  std::vector<StepFault> faults;
  auto queue =
      std::make_unique<StepQueue>(whole.get(), StepGraph::Of("whole", whole->spec, steps, &faults),
                                  RunBounds{kRequests, 1 << 20}, &context);
  ASSERT_TRUE(faults.empty());
  whole->members = std::make_unique<GraphMembers>(whole.get(), &queue->graph(), &models);
  whole->queue = std::move(queue);

  std::atomic<int> ended{0};
  CountingSink sink(&ended);
  Payload payload;
  payload.Append("xx");
  std::vector<Request> requests(kRequests);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&members, &ended, i] { members.Run(i + 1, &ended); });
  }
  for (int i = 0; i < kRequests; ++i) {
    Request& request = requests[static_cast<size_t>(i)];
    request.model = whole;
    request.metrics = &whole->metrics;
    request.deadline_ns = clock.NowNs() + kNsPerSecond;
    RequestInput& input = request.inputs.emplace_back();
    input.datatype = DataType::kUint8;
    input.dims = {2};
    input.payload = &payload;
    request.wanted_outputs = {0, 1};
    request.reply = Reply(&sink);
    RowTargets targets;
    ASSERT_TRUE(whole->queue->Reserve(&request, &targets).ok());
    if (i % 3 == 0) whole->queue->Cancel(&request);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, kRequests);
  EXPECT_GT(sink.answered, 0);
  EXPECT_EQ(context.inside, 0);
  EXPECT_EQ(context.copies.taken_bytes(), 0u);
  EXPECT_EQ(memory.references, 0);
}

}  // namespace
}  // namespace mpsd

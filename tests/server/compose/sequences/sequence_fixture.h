// SequenceFixture: a queue that keeps sequences, in front of a pool that the test plays.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/compose/sequences/sequence_queue.h"
#include "server/request/served_model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/recording_reply_sink.h"
#include "tests/server/compose/sequences/copying_filler.h"

namespace mpsd {

// Takes what it is given, until the test answers it. Lives on one thread.
class TurnPool final : public RowQueue {
 public:
  // One row: x, start, end, id and the state, of an INT32 each but for the id's eight bytes.
  struct Taken {
    Request* request = nullptr;
    std::array<std::array<char, 8>, 5> inputs{};
    bool is_over = false;

    int32_t Number(size_t input) const {
      int32_t number = 0;
      std::memcpy(&number, inputs[input].data(), sizeof(number));
      return number;
    }
  };

  absl::Status Reserve(Request* request, RowTargets* targets) override {
    if (on_reserve) on_reserve();
    if (is_closed) return absl::AbortedError("the model was replaced");
    if (room == 0) return absl::ResourceExhaustedError("Exceeds maximum queue size");
    Taken& one = taken.emplace_back();
    one.request = request;
    request->queue = this;
    request->Go(RequestState::kReserved);
    for (auto& input : one.inputs) targets->inputs.push_back(input.data());
    return absl::OkStatus();
  }
  void Commit(Request* request) override {
    Taken* const found = Find(request);
    request->Go(RequestState::kQueued);
    if (on_commit) on_commit();
    if (request->cancelled) FailTaken(found, CancelledByClient());
  }
  void Continue(Request*) override { ADD_FAILURE() << "no turn has several answers"; }
  void Cancel(Request* request) override {
    Taken* const found = Find(request);
    if (found == nullptr || found->is_over) return;
    if (request->state == RequestState::kReserved) {
      request->cancelled = true;
      return;
    }
    FailTaken(found, CancelledByClient());
  }
  void Close() override { is_closed = true; }

  Taken* Find(const Request* request) {
    for (Taken& each : taken) {
      if (each.request == request && !each.is_over) return &each;
    }
    return nullptr;
  }

  // y is x, and the state grows by x.
  void Answer(size_t number) {
    Taken& one = taken[number];
    const int32_t values[] = {one.Number(0), one.Number(0) + one.Number(4)};
    mpsd::Answer answer;
    for (const uint32_t wanted : one.request->wanted_outputs) {
      AnswerOutput& output = answer.outputs.emplace_back();
      output.name = wanted == 0 ? "y" : "sum_out";
      output.datatype = DataType::kInt32;
      output.dims = {1, 1};
      output.bytes = absl::string_view(reinterpret_cast<const char*>(&values[wanted]), state_bytes);
    }
    one.is_over = true;
    one.request->Go(RequestState::kEnded);
    one.request->times = {10, 20, 30};
    one.request->reply.Send(answer);
  }
  void Fail(size_t number, const absl::Status& status) { FailTaken(&taken[number], status); }

  bool is_closed = false;
  int room = 1;
  size_t state_bytes = 4;
  std::function<void()> on_reserve;
  std::function<void()> on_commit;
  std::deque<Taken> taken;

 private:
  static void FailTaken(Taken* one, const absl::Status& status) {
    one->is_over = true;
    one->request->Go(RequestState::kEnded);
    one->request->reply.Fail(status);
  }
};

// A model that sums what the requests of a sequence bring. Lives on one thread.
class SequenceFixture : public testing::Test {
 protected:
  // A client's request.
  struct Call {
    int32_t x = 0;
    Payload payload;
    SequenceMark mark;
    Request request;
    RecordingReplySink sink;
    RowTargets targets;
  };

  SequenceFixture() {
    model_->name = "m";
    ModelSpec& spec = model_->spec;
    spec.max_batch_size = 4;
    spec.inputs = {{"x", DataType::kInt32, {1}},
                   {"START", DataType::kInt32, {1}},
                   {"END", DataType::kInt32, {1}},
                   {"ID", DataType::kUint64, {1}},
                   {"sum", DataType::kInt32, {1}}};
    spec.outputs = {{"y", DataType::kInt32, {1}}, {"sum_out", DataType::kInt32, {1}}};
    SequencePolicy& policy = model_->facts.sequences.emplace();
    policy.start.input = "START";
    policy.end.input = "END";
    policy.id_input = "ID";
    policy.idle_ns = 1000;
    policy.states = {{"sum", "sum_out"}};
    auto pool = std::make_unique<TurnPool>();
    pool_ = pool.get();
    auto queue = std::make_unique<SequenceQueue>(model_.get(), std::move(pool), 1000, &context_);
    queue_ = queue.get();
    model_->queue = std::move(queue);
    const uint64_t pins[] = {kPin};
    queue_->LanesJoined(pins);
  }
  ~SequenceFixture() override { EXPECT_EQ(context_.inside, 0); }

  Call* NewCall(int32_t x, uint64_t id, bool starts = false, bool ends = false) {
    Call& call = calls_.emplace_back();
    call.x = x;
    call.payload.Append(absl::string_view(reinterpret_cast<const char*>(&call.x), sizeof(x)));
    call.mark.number = id;
    call.mark.starts = starts;
    call.mark.ends = ends;
    Request& request = call.request;
    request.model = model_;
    request.metrics = &model_->metrics;
    request.deadline_ns = INT64_MAX;
    request.sequence = &call.mark;
    for (size_t i = 0; i < model_->spec.inputs.size(); ++i) {
      RequestInput& input = request.inputs.emplace_back();
      input.datatype = model_->spec.inputs[i].datatype;
      input.dims = input.padded_dims = {1};
      input.row_bytes = i == 3 ? 8 : 4;
    }
    request.inputs[0].payload = &call.payload;
    request.key = {1};
    request.wanted_outputs = {0};
    request.filler = &writer_;
    request.reply = Reply(&call.sink);
    return &call;
  }
  absl::Status Enter(Call* call) {
    absl::Status status = queue_->Reserve(&call->request, &call->targets);
    if (!status.ok()) call->request.reply.Fail(status);
    return status;
  }
  Call* Entered(int32_t x, uint64_t id, bool starts = false, bool ends = false) {
    Call* const call = NewCall(x, id, starts, ends);
    EXPECT_TRUE(Enter(call).ok());
    EXPECT_TRUE(call->targets.later);
    return call;
  }

  static constexpr uint64_t kPin = 42;
  FakeClock clock_;
  SequenceContext context_{&clock_, 1000};
  const CopyingFiller writer_;
  std::deque<Call> calls_;
  const std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  TurnPool* pool_ = nullptr;
  SequenceQueue* queue_ = nullptr;
};

}  // namespace mpsd

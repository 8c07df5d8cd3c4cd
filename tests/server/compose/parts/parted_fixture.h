// PartedFixture: a queue that cuts requests, in front of a pool that the test plays.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/admit/row_writer.h"
#include "server/compose/parts/parted_queue.h"
#include "server/request/served_model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/recording_reply_sink.h"

namespace mpsd {

// Takes what it is given, until the test answers it. Lives on one thread.
class FakePool final : public RowQueue {
 public:
  // Rows of one byte.
  struct Taken {
    Request* request = nullptr;
    std::string rows;
    bool is_filled = false;
    bool is_over = false;
  };

  absl::Status Reserve(Request* request, RowTargets* targets) override {
    if (on_reserve) on_reserve();
    if (is_closed) return absl::AbortedError("the model was replaced");
    if (room == 0) return absl::ResourceExhaustedError("Exceeds maximum queue size");
    --room;
    Taken& one = taken.emplace_back();
    one.request = request;
    one.rows.resize(request->rows);
    request->queue = this;
    request->Go(all_later ? RequestState::kWaiting : RequestState::kReserved);
    targets->later = all_later;
    if (!all_later) targets->inputs = {one.rows.data()};
    return absl::OkStatus();
  }
  void Commit(Request* request) override {
    Taken* const found = Find(request);
    found->is_filled = true;
    request->Go(RequestState::kQueued);
    if (request->cancelled) FailTaken(found, CancelledByClient());
  }
  void Continue(Request*) override { ADD_FAILURE() << "no part has several answers"; }
  void Cancel(Request* request) override {
    Taken* const found = Find(request);
    if (found->is_over) return;
    if (request->state == RequestState::kReserved) {
      request->cancelled = true;
      return;
    }
    FailTaken(found, CancelledByClient());
  }
  void Close() override { is_closed = true; }

  Taken* Find(const Request* request) {
    for (Taken& each : taken) {
      if (each.request == request) return &each;
    }
    ADD_FAILURE() << "the pool has no such request";
    return nullptr;
  }

  // The answer to each row is the row itself.
  void Answer(size_t number) { AnswerWith(number, taken[number].rows); }
  void AnswerWith(size_t number, const std::string& bytes) {
    Taken& one = taken[number];
    mpsd::Answer answer;
    AnswerOutput& output = answer.outputs.emplace_back();
    output.name = "y";
    output.datatype = DataType::kUint8;
    const auto rows = static_cast<int64_t>(one.request->rows);
    output.dims = {rows, static_cast<int64_t>(bytes.size()) / rows};
    output.bytes = bytes;
    one.is_over = true;
    one.request->Go(RequestState::kEnded);
    one.request->times = {10 - static_cast<int64_t>(number), 20, 30 + static_cast<int64_t>(number)};
    one.request->sums = {7, 5 + static_cast<int64_t>(number), 9 - static_cast<int64_t>(number)};
    one.request->reply.Send(answer);
  }
  void Fail(size_t number, const absl::Status& status) { FailTaken(&taken[number], status); }

  std::function<void()> on_reserve;
  std::atomic<bool> is_closed{false};
  bool all_later = false;
  int room = 1000;
  std::deque<Taken> taken;

 private:
  void FailTaken(Taken* one, const absl::Status& status) {
    one->is_over = true;
    one->request->Go(RequestState::kEnded);
    one->request->reply.Fail(status);
  }
};

// A model of rows of one byte, in batches of 4, and at most 10 in a request. Lives on one thread.
class PartedFixture : public testing::Test {
 protected:
  PartedFixture() {
    model_->name = "m";
    model_->spec.max_batch_size = 4;
    model_->spec.inputs = {{"x", DataType::kUint8, {1}}};
    model_->spec.outputs = {{"y", DataType::kUint8, {1}}};
    model_->facts.max_request_rows = 10;
    auto pool = std::make_unique<FakePool>();
    pool_ = pool.get();
    model_->queue = std::make_unique<PartedQueue>(std::move(pool), &answers_);
  }
  ~PartedFixture() override { EXPECT_EQ(answers_.taken_bytes(), 0u); }

  // A request of these rows, which outlive it.
  void Fill(const std::string& rows, ReplySink* sink, Payload* payload, Request* request) {
    payload->Append(rows);
    request->model = model_;
    request->metrics = &model_->metrics;
    request->rows = static_cast<uint32_t>(rows.size());
    request->arrival_ns = 5;
    request->deadline_ns = 70;
    request->tenant = 3;
    request->priority = 2;
    request->level = 1;
    request->key = {1};
    RequestInput& input = request->inputs.emplace_back();
    input.datatype = DataType::kUint8;
    input.dims = input.padded_dims = {1};
    input.row_bytes = 1;
    input.payload = payload;
    request->wanted_outputs = {0};
    request->filler = &writer_;
    request->reply = Reply(sink);
  }

  const RowWriter writer_;
  ByteAllowance answers_{100};
  const std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  FakePool* pool_ = nullptr;
};

}  // namespace mpsd

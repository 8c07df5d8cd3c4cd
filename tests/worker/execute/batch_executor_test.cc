#include "worker/execute/batch_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_model.h"

namespace mpsd {
namespace {

// A batch of two rows of FP32[2], in one run, with a lease of 64 bytes.
class BatchExecutorTest : public testing::Test {
 protected:
  BatchExecutorTest() {
    batch_.id = 77;
    batch_.row_count = 2;
    batch_.has_batch_dim = true;
    batch_.inputs.push_back({DataType::kFp32, {2}, 8});
    batch_.runs.push_back({2, {reinterpret_cast<const char*>(rows_)}, {sizeof(rows_)}});
    batch_.output = lease_;
    batch_.output_bytes = sizeof(lease_);
    // The record's previous contents: every field must be written anew.
    std::fill_n(reinterpret_cast<char*>(record_.get()), offsetof(CompletionRecord, outputs),
                '\x55');
    std::fill_n(record_->row_failed, kMaxBatchRows, uint8_t{1});
  }

  const CompletionRecord& Execute(FakeModel::RunFunction run) {
    FakeModel model(ModelSpec{}, std::move(run));
    BatchExecutor executor(0, &model, &clock_);
    executor.Execute(batch_, record_.get());
    return *record_;
  }

  std::string Text() const { return {record_->text, record_->text_bytes}; }

  FakeClock clock_;
  alignas(64) float rows_[4] = {1, 2, 3, 4};
  alignas(64) char lease_[64] = {};
  Batch batch_;
  std::unique_ptr<CompletionRecord> record_ = std::make_unique<CompletionRecord>();
};

TEST_F(BatchExecutorTest, PutsTheOutputsIntoTheLease) {
  const CompletionRecord& record = Execute(EchoInputs);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_EQ(record.batch_id, 77u);
  EXPECT_EQ(record.row_count, 2u);
  EXPECT_EQ(record.text_bytes, 0u);
  EXPECT_EQ(record.output_bytes_needed, 0u);
  ASSERT_EQ(record.output_count, 1u);
  EXPECT_EQ(record.outputs[0].bytes, 16u);
  EXPECT_EQ(std::memcmp(lease_ + record.outputs[0].offset, rows_, 16), 0);
  EXPECT_EQ(record.row_failed[0], 0);
  EXPECT_EQ(record.row_failed[1], 0);
}

TEST_F(BatchExecutorTest, AsksADecoupledModelForOneAnswer) {
  ModelSpec spec;
  spec.decoupled = true;
  FakeModel model(spec, EchoInputs);
  model.answer = [](absl::Span<const InputTensor>, uint32_t index,
                    OutputSink* sink) -> absl::StatusOr<bool> {
    if (index > 3) return false;
    if (index == 3) return absl::InternalError("no third");
    const std::vector<int64_t> dims = {index + 1};
    std::fill_n(static_cast<char*>(sink->Add(DataType::kInt8, dims)), index + 1, 'x');
    return true;
  };
  BatchExecutor executor(0, &model, &clock_);
  batch_.answer_index = 2;
  executor.Execute(batch_, record_.get());
  EXPECT_EQ(record_->outcome, BatchOutcome::kAnswer);
  ASSERT_EQ(record_->output_count, 1u);
  EXPECT_EQ(record_->outputs[0].bytes, 3u);
  EXPECT_EQ(std::string(lease_, 4), std::string("xxx\0", 4));
  batch_.answer_index = 3;
  executor.Execute(batch_, record_.get());
  EXPECT_EQ(record_->outcome, BatchOutcome::kFailed);
  EXPECT_EQ(Text(), "no third");
  batch_.answer_index = 4;
  executor.Execute(batch_, record_.get());
  EXPECT_EQ(record_->outcome, BatchOutcome::kNoAnswer);
  EXPECT_EQ(record_->output_count, 0u);
}

TEST_F(BatchExecutorTest, AnAnswerThatExceedsTheLeaseAsksForMore) {
  ModelSpec spec;
  spec.decoupled = true;
  FakeModel model(spec, EchoInputs);
  model.answer = [](auto, uint32_t, OutputSink* sink) -> absl::StatusOr<bool> {
    EXPECT_EQ(sink->Add(DataType::kInt8, {65}), nullptr);
    return true;
  };
  BatchExecutor executor(0, &model, &clock_);
  executor.Execute(batch_, record_.get());
  EXPECT_EQ(record_->outcome, BatchOutcome::kOutputTooLarge);
  EXPECT_EQ(record_->output_bytes_needed, 65u);
}

TEST_F(BatchExecutorTest, SaysWhenItBeganAndEnded) {
  const int64_t begin_ns = clock_.NowNs();
  const CompletionRecord& record = Execute([this](auto inputs, uint32_t rows, OutputSink* sink) {
    clock_.Advance(5);
    return EchoInputs(inputs, rows, sink);
  });
  EXPECT_EQ(record.started_ns, begin_ns);
  EXPECT_EQ(record.finished_ns, begin_ns + 5);
}

TEST_F(BatchExecutorTest, GivesTheModelTheBatchesRows) {
  uint32_t rows = 0;
  Dims dims;
  Execute([&](absl::Span<const InputTensor> inputs, uint32_t row_count, OutputSink* sink) {
    rows = row_count;
    dims = inputs[0].dims;
    return EchoInputs(inputs, row_count, sink);
  });
  EXPECT_EQ(rows, 2u);
  EXPECT_EQ(dims, (Dims{2, 2}));
}

TEST_F(BatchExecutorTest, SaysWhyTheModelFailed) {
  const CompletionRecord& record = Execute([](auto, uint32_t, OutputSink*) {
    return absl::InternalError("PyTorch execute failure: shapes");
  });
  EXPECT_EQ(record.outcome, BatchOutcome::kFailed);
  EXPECT_EQ(record.batch_id, 77u);
  EXPECT_EQ(Text(), "PyTorch execute failure: shapes");
}

TEST_F(BatchExecutorTest, CutsALongFailure) {
  Execute([](auto, uint32_t, OutputSink*) {
    return absl::InternalError(std::string(10 * kErrorTextBytes, 'x'));
  });
  EXPECT_EQ(Text(), std::string(kErrorTextBytes, 'x'));
}

TEST_F(BatchExecutorTest, SaysHowLargeALeaseIsNeeded) {
  const CompletionRecord& record = Execute([](auto, uint32_t, OutputSink* sink) {
    EXPECT_NE(sink->Add(DataType::kUint8, {64}), nullptr);
    EXPECT_EQ(sink->Add(DataType::kUint8, {100}), nullptr);
    return absl::OkStatus();
  });
  EXPECT_EQ(record.outcome, BatchOutcome::kOutputTooLarge);
  EXPECT_EQ(record.output_bytes_needed, 164u);
}

TEST_F(BatchExecutorTest, FailsABatchWhoseOutputsCannotBeSent) {
  const CompletionRecord& record = Execute([](auto, uint32_t, OutputSink* sink) {
    sink->Add(DataType::kBytes, {1});
    return absl::OkStatus();
  });
  EXPECT_EQ(record.outcome, BatchOutcome::kFailed);
  EXPECT_THAT(Text(), testing::StartsWith("PyTorch execute failure"));
}

TEST_F(BatchExecutorTest, FailsSingleRows) {
  const CompletionRecord& record = Execute([](auto inputs, uint32_t rows, OutputSink* sink) {
    sink->FailRow(1, "bad row");
    return EchoInputs(inputs, rows, sink);
  });
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_EQ(record.row_failed[0], 0);
  EXPECT_EQ(record.row_failed[1], 1);
  EXPECT_EQ(Text(), "bad row");
}

TEST_F(BatchExecutorTest, FailsABatchWhoseModelFailsARowThatIsNotThere) {
  const CompletionRecord& record = Execute([](auto inputs, uint32_t rows, OutputSink* sink) {
    sink->FailRow(2, "whose?");
    return EchoInputs(inputs, rows, sink);
  });
  EXPECT_EQ(record.outcome, BatchOutcome::kFailed);
}

TEST_F(BatchExecutorTest, ForgetsTheBatchBefore) {
  Execute([](auto inputs, uint32_t rows, OutputSink* sink) {
    sink->FailRow(0, "bad row");
    return EchoInputs(inputs, rows, sink);
  });
  const CompletionRecord& record = Execute(EchoInputs);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_EQ(record.output_count, 1u);
  EXPECT_EQ(record.row_failed[0], 0);
  EXPECT_EQ(record.text_bytes, 0u);
}

}  // namespace
}  // namespace mpsd

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_model.h"
#include "worker/execute/batch_executor.h"

namespace mpsd {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr float kBad = -1;

// Batches of rows of FP32[1]. The model doubles the rows, and does what the test says for some.
class SplitBatch : public testing::Test {
 protected:
  using Verdict = std::function<absl::Status(absl::Span<const float> rows)>;

  const CompletionRecord& Execute(std::vector<float> rows, const Verdict& verdict) {
    rows_ = std::move(rows);
    lease_.assign(rows_.size() * sizeof(float) + 128, '\x55');
    Batch batch;
    batch.row_count = static_cast<uint32_t>(rows_.size());
    batch.has_batch_dim = has_batch_dim_;
    batch.live_until_ns = live_until_ns_;
    batch.inputs.push_back({DataType::kFp32, {1}, sizeof(float)});
    batch.runs.push_back({batch.row_count,
                          {reinterpret_cast<const char*>(rows_.data())},
                          {rows_.size() * sizeof(float)}});
    batch.output = lease_.data();
    batch.output_bytes = lease_.size();
    verdict_ = verdict;
    executor_->Execute(batch, record_.get());
    return *record_;
  }

  absl::Status Run(absl::Span<const InputTensor> inputs, uint32_t row_count, OutputSink* sink) {
    const auto* data = static_cast<const float*>(inputs[0].data);
    const absl::Span<const float> rows = absl::MakeSpan(data, row_count);
    EXPECT_EQ(inputs[0].bytes, row_count * sizeof(float));
    const int64_t first_dim = has_batch_dim_ ? row_count : 1;
    EXPECT_EQ(inputs[0].dims[0], first_dim);
    run_rows_.push_back(row_count);
    if (absl::Status status = verdict_(rows); !status.ok()) return status;
    auto* output = static_cast<float*>(sink->Add(DataType::kFp32, {row_count, 1}));
    for (uint32_t i = 0; output != nullptr && i < row_count; ++i) output[i] = 2 * rows[i];
    return absl::OkStatus();
  }

  static absl::Status ThrowsForBadRows(absl::Span<const float> rows) {
    const bool bad = std::find(rows.begin(), rows.end(), kBad) != rows.end();
    return bad ? absl::InternalError("PyTorch execute failure: a bad row") : absl::OkStatus();
  }
  static Verdict FitsUpTo(size_t rows) {
    return [rows](absl::Span<const float> given) {
      return given.size() > rows
                 ? absl::ResourceExhaustedError("PyTorch execute failure: out of memory")
                 : absl::OkStatus();
    };
  }

  std::vector<float> Outputs() const {
    std::vector<float> outputs(rows_.size());
    std::memcpy(outputs.data(), lease_.data() + record_->outputs[0].offset,
                outputs.size() * sizeof(float));
    return outputs;
  }
  std::vector<int> Failed() const {
    return {record_->row_failed, record_->row_failed + record_->row_count};
  }
  std::string Text() const { return {record_->text, record_->text_bytes}; }

  FakeClock clock_;
  int64_t live_until_ns_ = INT64_MAX;
  bool has_batch_dim_ = true;
  Verdict verdict_;
  std::vector<float> rows_;
  std::vector<uint32_t> run_rows_;
  std::string lease_;
  std::unique_ptr<CompletionRecord> record_ = std::make_unique<CompletionRecord>();
  FakeModel model_{ModelSpec{}, [this](absl::Span<const InputTensor> inputs, uint32_t rows,
                                       OutputSink* sink) { return Run(inputs, rows, sink); }};
  std::unique_ptr<BatchExecutor> executor_ = std::make_unique<BatchExecutor>(0, &model_, &clock_);
};

TEST_F(SplitBatch, OnlyTheRowFailsThatTheModelThrowsFor) {
  const CompletionRecord& record = Execute({1, 2, kBad, 4, 5}, ThrowsForBadRows);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_EQ(record.output_count, 1u);
  EXPECT_THAT(Failed(), ElementsAre(0, 0, 1, 0, 0));
  EXPECT_THAT(Outputs(), ElementsAre(2, 4, 0, 8, 10)) << "a failed row is zero, never stale";
  EXPECT_EQ(Text(), "PyTorch execute failure: a bad row");
}

TEST_F(SplitBatch, ABatchThatGoesWellRunsOnce) {
  Execute({1, 2, 3, 4}, ThrowsForBadRows);
  EXPECT_THAT(run_rows_, ElementsAre(4));
}

TEST_F(SplitBatch, ABatchOfBadRowsFailsAsAWhole) {
  const CompletionRecord& record = Execute({kBad, kBad}, ThrowsForBadRows);
  EXPECT_EQ(record.outcome, BatchOutcome::kFailed);
  EXPECT_EQ(Text(), "PyTorch execute failure: a bad row");
  EXPECT_THAT(run_rows_, ElementsAre(2, 1, 1));
}

TEST_F(SplitBatch, OneBadRowOfTheLargestBatchIsFound) {
  std::vector<float> rows(kMaxBatchRows, 3);
  rows[777] = kBad;
  const CompletionRecord& record = Execute(rows, ThrowsForBadRows);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_EQ(std::count(record.row_failed, record.row_failed + kMaxBatchRows, 1), 1);
  EXPECT_EQ(record.row_failed[777], 1);
}

TEST_F(SplitBatch, TheNumberOfRunsIsBounded) {
  std::vector<float> rows(kMaxBatchRows, kBad);
  rows[0] = 3;
  const CompletionRecord& record = Execute(rows, ThrowsForBadRows);
  EXPECT_EQ(run_rows_.size(), 1 + kMaxPartRuns);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_EQ(record.row_failed[0], 0);
  EXPECT_EQ(std::count(record.row_failed, record.row_failed + kMaxBatchRows, 1), kMaxBatchRows - 1);
}

TEST_F(SplitBatch, NothingIsRunAgainForNobody) {
  live_until_ns_ = clock_.NowNs() + 10;
  const CompletionRecord& record = Execute({kBad, 2, 3, 4}, [this](absl::Span<const float> rows) {
    clock_.Advance(6);
    return ThrowsForBadRows(rows);
  });
  EXPECT_THAT(run_rows_, ElementsAre(4, 2)) << "after the second run its time is over";
  EXPECT_EQ(record.outcome, BatchOutcome::kFailed);
}

TEST_F(SplitBatch, AModelWithoutBatchDimIsNotSplit) {
  has_batch_dim_ = false;
  Execute({kBad, 2}, ThrowsForBadRows);
  EXPECT_THAT(run_rows_, SizeIs(1));
}

TEST_F(SplitBatch, AnAnswerThatBreaksTheSpecIsNotSplit) {
  const CompletionRecord& record = Execute({1, 2}, [](auto) {
    return absl::FailedPreconditionError("PyTorch execute failure: a wrong shape");
  });
  EXPECT_THAT(run_rows_, SizeIs(1));
  EXPECT_EQ(record.outcome, BatchOutcome::kFailed);
}

TEST_F(SplitBatch, OutOfMemoryRecoveryRunsLessAtOnce) {
  const CompletionRecord& record = Execute({1, 2, 3, 4}, FitsUpTo(2));
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_THAT(Failed(), Each(0));
  EXPECT_THAT(Outputs(), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(run_rows_, ElementsAre(4, 2, 2));
  EXPECT_EQ(executor_->row_cap(), 0u) << "once is no habit";
}

TEST_F(SplitBatch, AfterTwoOutOfMemoryErrorsTheBatchCapHalves) {
  Execute({1, 2, 3, 4}, FitsUpTo(2));
  Execute({1, 2, 3, 4}, FitsUpTo(2));
  EXPECT_EQ(executor_->row_cap(), 2u);
  run_rows_.clear();
  const CompletionRecord& record = Execute({1, 2, 3, 4, 5}, FitsUpTo(2));
  EXPECT_THAT(run_rows_, ElementsAre(2, 2, 1)) << "none of them fails any more";
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_THAT(Outputs(), ElementsAre(2, 4, 6, 8, 10));
}

TEST_F(SplitBatch, ALostDeviceEndsItAll) {
  Execute({1, 2, 3, 4}, [](auto) {
    return absl::DataLossError("PyTorch execute failure: CUDA error: device-side assert");
  });
  EXPECT_THAT(run_rows_, SizeIs(1));
  EXPECT_TRUE(executor_->device_lost());
}

TEST_F(SplitBatch, ADeviceThatIsLostInAPartEndsTheOthersToo) {
  const CompletionRecord& record = Execute({1, 2, 3, 4}, [](absl::Span<const float> rows) {
    return rows.size() == 4 ? absl::InternalError("PyTorch execute failure: split me")
                            : absl::DataLossError("PyTorch execute failure: the device is lost");
  });
  EXPECT_THAT(run_rows_, ElementsAre(4, 2));
  EXPECT_TRUE(executor_->device_lost());
  EXPECT_EQ(record.outcome, BatchOutcome::kFailed);
}

TEST_F(SplitBatch, MemoryErrorsAreCountedAnewAfterTheCap) {
  Execute({1, 2, 3, 4}, FitsUpTo(2));
  Execute({1, 2, 3, 4}, FitsUpTo(2));
  ASSERT_EQ(executor_->row_cap(), 2u);
  Execute({1, 2}, FitsUpTo(1));
  EXPECT_EQ(executor_->row_cap(), 2u);
  Execute({1, 2}, FitsUpTo(1));
  EXPECT_EQ(executor_->row_cap(), 1u);
}

// The batch has more rows than one may be split into.
TEST_F(SplitBatch, WhereMemorySufficesForOneRowEachRowOfALargeBatchIsRun) {
  for (int i = 0; i < 2; ++i) Execute({1, 2}, FitsUpTo(1));
  ASSERT_EQ(executor_->row_cap(), 1u);
  run_rows_.clear();
  const CompletionRecord& record = Execute(std::vector<float>(kMaxBatchRows, 3), FitsUpTo(1));
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_THAT(Failed(), Each(0));
  EXPECT_THAT(Outputs(), Each(6));
  EXPECT_THAT(run_rows_, SizeIs(kMaxBatchRows));
}

TEST(SplitPolicy, StringsAreNotSplit) {
  Batch batch;
  batch.has_batch_dim = true;
  batch.row_count = 2;
  batch.inputs.push_back({DataType::kFp32, {1}, sizeof(float)});
  EXPECT_TRUE(CanSplit(batch));
  batch.inputs.push_back({DataType::kBytes, {1}, 0});
  EXPECT_FALSE(CanSplit(batch));
}

TEST_F(SplitBatch, WhatAFailedRunHasGivenIsForgotten) {
  FakeModel model(ModelSpec{}, [](auto inputs, uint32_t rows, OutputSink* sink) {
    auto* output = static_cast<float*>(sink->Add(DataType::kFp32, {rows, 1}));
    const auto* input = static_cast<const float*>(inputs[0].data);
    for (uint32_t i = 0; output != nullptr && i < rows; ++i) output[i] = 3 * input[i];
    if (rows > 1) return absl::InternalError("PyTorch execute failure: split me");
    return absl::OkStatus();
  });
  executor_ = std::make_unique<BatchExecutor>(0, &model, &clock_);
  const CompletionRecord& record = Execute({1, 2}, ThrowsForBadRows);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_EQ(record.output_count, 1u);
  EXPECT_EQ(record.outputs[0].offset, 0u);
  EXPECT_THAT(Outputs(), ElementsAre(3, 6));
}

TEST_F(SplitBatch, PartsThatAnswerWithOtherShapesFail) {
  Execute({1, 2}, ThrowsForBadRows);
  FakeModel model(ModelSpec{}, [](auto inputs, uint32_t rows, OutputSink* sink) {
    if (rows > 1) return absl::InternalError("PyTorch execute failure: split me");
    const float first = *static_cast<const float*>(inputs[0].data);
    const int64_t width = first == 1 ? 1 : 2;
    void* output = sink->Add(DataType::kFp32, {rows, width});
    if (output != nullptr) std::memset(output, 0, static_cast<size_t>(width) * sizeof(float));
    return absl::OkStatus();
  });
  executor_ = std::make_unique<BatchExecutor>(0, &model, &clock_);
  const CompletionRecord& record = Execute({1, 2}, ThrowsForBadRows);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_THAT(Failed(), ElementsAre(0, 1));
  EXPECT_THAT(Text(), HasSubstr("different shapes"));
}

TEST_F(SplitBatch, PartsThatGiveFewerOutputsFail) {
  FakeModel model(ModelSpec{}, [](auto inputs, uint32_t rows, OutputSink* sink) {
    if (rows > 1) return absl::InternalError("PyTorch execute failure: split me");
    if (*static_cast<const float*>(inputs[0].data) == 2) return absl::OkStatus();
    void* output = sink->Add(DataType::kFp32, {rows, 1});
    if (output != nullptr) std::memset(output, 0, sizeof(float));
    return absl::OkStatus();
  });
  executor_ = std::make_unique<BatchExecutor>(0, &model, &clock_);
  const CompletionRecord& record = Execute({1, 2}, ThrowsForBadRows);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_THAT(Failed(), ElementsAre(0, 1));
}

}  // namespace
}  // namespace mpsd

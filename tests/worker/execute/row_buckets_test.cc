#include "worker/execute/row_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/fakes/fake_model.h"
#include "worker/execute/trial_run.h"
#include "worker/execute/warm_up.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

// Keeps what one run gives, with as many rows as it says.
class RowsSink final : public OutputSink {
 public:
  void* Add(DataType datatype, absl::Span<const int64_t> output_dims) override {
    dims.assign(output_dims.begin(), output_dims.end());
    if (!has_room) return nullptr;
    values.resize(TensorBytes(datatype, output_dims).value_or(0) / sizeof(float));
    return values.data();
  }
  void* AddBytes(absl::Span<const int64_t>, uint64_t) override { return nullptr; }
  void FailRow(uint32_t row, absl::string_view) override { failed.push_back(row); }

  bool has_room = true;
  std::vector<int64_t> dims;
  std::vector<float> values;
  std::vector<uint32_t> failed;
};

ModelSpec TwoWide(uint32_t rows_max) {
  ModelSpec spec;
  spec.max_batch_size = rows_max;
  spec.inputs = {{"x", DataType::kFp32, {2}}};
  spec.outputs = {{"y", DataType::kFp32, {2}}};
  return spec;
}

// Echoes its input, and notes what it was given.
class RowBucketsTest : public testing::Test {
 protected:
  absl::Status Run(const std::vector<float>& values) {
    const auto rows = static_cast<uint32_t>(values.size() / 2);
    InputTensor input;
    input.data = values.data();
    input.bytes = values.size() * sizeof(float);
    input.datatype = DataType::kFp32;
    input.dims = {rows, 2};
    return buckets_.Run({input}, rows, &sink_);
  }

  std::vector<std::vector<float>> given_;
  absl::Status outcome_;
  std::vector<uint32_t> failing_rows_;
  FakeModel model_{TwoWide(6),
                   [this](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink* sink) {
                     const auto* values = static_cast<const float*>(inputs[0].data);
                     given_.emplace_back(values, values + rows * 2);
                     EXPECT_EQ(inputs[0].dims[0], rows);
                     EXPECT_EQ(inputs[0].bytes, rows * 2 * sizeof(float));
                     for (const uint32_t row : failing_rows_) sink->FailRow(row, "no");
                     const absl::Status echoed = EchoInputs(inputs, rows, sink);
                     return outcome_.ok() ? echoed : outcome_;
                   },
                   {.wants_row_buckets = true}};
  RowBuckets buckets_{0, &model_};
  RowsSink sink_;
};

TEST(RowBucketOf, IsTheNextPowerOfTwoOrTheLargestBatch) {
  std::vector<uint32_t> buckets;
  for (uint32_t rows = 1; rows <= 12; ++rows) buckets.push_back(RowBucketOf(rows, 12));
  EXPECT_THAT(buckets, ElementsAre(1, 2, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
}

TEST_F(RowBucketsTest, TheLastRowIsRepeatedAndItsCopiesAreDropped) {
  EXPECT_TRUE(Run({1, 2, 3, 4, 5, 6}).ok());
  EXPECT_THAT(given_, ElementsAre(ElementsAre(1, 2, 3, 4, 5, 6, 5, 6)));
  EXPECT_THAT(sink_.dims, ElementsAre(3, 2));
  EXPECT_THAT(sink_.values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(RowBucketsTest, AnInputThatIsLeftOutNeedsNoRows) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  InputTensor input;
  input.data = values.data();
  input.bytes = values.size() * sizeof(float);
  input.datatype = DataType::kFp32;
  input.dims = {3, 2};
  std::vector<bool> left_out;
  FakeModel model(TwoWide(6),
                  [&](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink* sink) {
                    EXPECT_EQ(rows, 4U);
                    for (const InputTensor& each : inputs) left_out.push_back(each.is_left_out());
                    return EchoInputs(inputs.first(1), rows, sink);
                  },
                  {.wants_row_buckets = true});
  EXPECT_TRUE(RowBuckets(0, &model).Run({input, InputTensor{}}, 3, &sink_).ok());
  EXPECT_THAT(left_out, ElementsAre(false, true));
  EXPECT_EQ(sink_.values, values);
}

TEST_F(RowBucketsTest, NoBucketIsLargerThanTheLargestBatch) {
  EXPECT_TRUE(Run({1, 1, 2, 2, 3, 3, 4, 4, 5, 5}).ok());
  EXPECT_THAT(given_, ElementsAre(ElementsAre(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5)));
  EXPECT_EQ(sink_.values.size(), 10u);
}

TEST_F(RowBucketsTest, ABatchThatFillsItsBucketRunsWhereItLies) {
  const std::vector<float> values = {1, 2, 3, 4};
  EXPECT_TRUE(Run(values).ok());
  EXPECT_THAT(given_, ElementsAre(values));
  EXPECT_EQ(sink_.values, values);
}

TEST_F(RowBucketsTest, AModelThatWantsNoneGetsTheRowsAsTheyAre) {
  FakeModel model(TwoWide(6), [](auto inputs, uint32_t rows, OutputSink* sink) {
    EXPECT_EQ(rows, 3U);
    return EchoInputs(inputs, rows, sink);
  });
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const InputTensor input = {values.data(), 6 * sizeof(float), DataType::kFp32, {3, 2}};
  EXPECT_TRUE(RowBuckets(0, &model).Run({input}, 3, &sink_).ok());
  EXPECT_EQ(sink_.values, values);
}

TEST_F(RowBucketsTest, MemoryOfALargerRunBeforeIsNotSeen) {
  EXPECT_TRUE(Run({1, 1, 2, 2, 3, 3, 4, 4, 5, 5}).ok());
  EXPECT_TRUE(Run({6, 7, 8, 9, 10, 11}).ok());
  EXPECT_THAT(given_.back(), ElementsAre(6, 7, 8, 9, 10, 11, 10, 11));
  EXPECT_THAT(sink_.values, ElementsAre(6, 7, 8, 9, 10, 11));
}

TEST_F(RowBucketsTest, AFailedCopyIsNoFailedRow) {
  failing_rows_ = {2, 3};
  EXPECT_TRUE(Run({1, 2, 3, 4, 5, 6}).ok());
  EXPECT_THAT(sink_.failed, ElementsAre(2));
}

TEST_F(RowBucketsTest, AnOutputWithoutRoomIsDeclaredAllTheSame) {
  sink_.has_room = false;
  EXPECT_TRUE(Run({1, 2, 3, 4, 5, 6}).ok());
  EXPECT_THAT(sink_.dims, ElementsAre(3, 2));
}

// As a device whose copies are queued: they run when the last output is declared.
TEST_F(RowBucketsTest, AnOutputStaysWhereItIsWhenTheNextOneIsDeclared) {
  const auto run = [](auto, uint32_t rows, OutputSink* sink) {
    std::vector<void*> outputs;
    for (int i = 0; i < 9; ++i) outputs.push_back(sink->Add(DataType::kUint8, {rows}));
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::memset(outputs[i], 'a' + static_cast<int>(i), rows);
    }
    return absl::OkStatus();
  };
  FakeModel model(TwoWide(6), run, {.wants_row_buckets = true});
  const std::vector<float> values(6);
  const InputTensor input = {values.data(), 6 * sizeof(float), DataType::kFp32, {3, 2}};
  KeptOutputs kept;
  EXPECT_TRUE(RowBuckets(0, &model).Run({input}, 3, &kept).ok());
  ASSERT_EQ(kept.outputs().size(), 9u);
  EXPECT_EQ(kept.outputs().front()->bytes, "aaa");
  EXPECT_EQ(kept.outputs().back()->bytes, "iii");
}

TEST_F(RowBucketsTest, AFailureIsTheModels) {
  outcome_ = absl::InternalError("no");
  EXPECT_EQ(Run({1, 2, 3, 4, 5, 6}), outcome_);
  EXPECT_THAT(sink_.values, testing::Each(0));
}

TEST_F(RowBucketsTest, WarmUpRunsEachBucketAndServingMeetsNoOtherSize) {
  EXPECT_TRUE(WarmUpLane(&model_, 0, WarmUp::kAll).ok());
  std::vector<size_t> warmed;
  for (const std::vector<float>& values : given_) warmed.push_back(values.size() / 2);
  EXPECT_THAT(warmed, ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(RowCountsOf(model_), ElementsAre(1, 2, 4, 6));
  given_.clear();
  for (size_t rows = 1; rows <= 6; ++rows) {
    EXPECT_TRUE(Run(std::vector<float>(rows * 2)).ok());
    EXPECT_THAT(warmed, testing::Contains(given_.back().size() / 2)) << rows;
  }
}

TEST(RowCounts, OfAModelWithoutBucketsAreTheSmallestAndTheLargest) {
  const FakeModel model(TwoWide(6), EchoInputs);
  EXPECT_THAT(RowCountsOf(model), ElementsAre(1, 6));
  const FakeModel alone(TwoWide(0), EchoInputs);
  EXPECT_THAT(RowCountsOf(alone), ElementsAre(1));
}

}  // namespace
}  // namespace mpsd

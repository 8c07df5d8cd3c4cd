#include "worker/execute/gather.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "proto/base/limits.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

// A batch with two inputs, INT32[2] and UINT8[], whose rows lie in slabs of the test's own.
class GatherTest : public testing::Test {
 protected:
  GatherTest() {
    batch_.has_batch_dim = true;
    batch_.inputs.push_back({DataType::kInt32, {2}, 8});
    batch_.inputs.push_back({DataType::kUint8, {}, 1});
    std::iota(pairs_, pairs_ + 64, 0);
    std::iota(bytes_, bytes_ + 32, static_cast<uint8_t>(100));
  }

  void AddRun(uint32_t first_row, uint32_t row_count) {
    batch_.runs.push_back(
        {row_count,
         {reinterpret_cast<const char*>(pairs_ + 2 * first_row),
          reinterpret_cast<const char*>(bytes_ + first_row)},
         {row_count * batch_.inputs[0].row_bytes, row_count * batch_.inputs[1].row_bytes}});
    batch_.row_count += row_count;
  }

  template <typename T>
  static std::vector<T> Elements(const InputTensor& tensor) {
    const T* first = static_cast<const T*>(tensor.data);
    return {first, first + tensor.bytes / sizeof(T)};
  }

  alignas(64) int32_t pairs_[64];
  alignas(64) uint8_t bytes_[32];
  Batch batch_;
  Gather gather_;
};

TEST_F(GatherTest, UsesOneRunWhereItLies) {
  AddRun(3, 4);
  const absl::Span<const InputTensor> inputs = gather_.Inputs(batch_);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].data, pairs_ + 6);
  EXPECT_EQ(inputs[0].bytes, 32u);
  EXPECT_EQ(inputs[0].datatype, DataType::kInt32);
  EXPECT_EQ(inputs[0].dims, (Dims{4, 2}));
  EXPECT_EQ(inputs[1].data, bytes_ + 3);
  EXPECT_EQ(inputs[1].bytes, 4u);
  EXPECT_EQ(inputs[1].dims, (Dims{4}));
}

TEST_F(GatherTest, PutsSeveralRunsOneBehindTheOther) {
  AddRun(5, 1);
  AddRun(0, 2);
  AddRun(9, 1);
  const absl::Span<const InputTensor> inputs = gather_.Inputs(batch_);
  EXPECT_THAT(Elements<int32_t>(inputs[0]), ElementsAre(10, 11, 0, 1, 2, 3, 18, 19));
  EXPECT_THAT(Elements<uint8_t>(inputs[1]), ElementsAre(105, 100, 101, 109));
  EXPECT_EQ(inputs[0].dims, (Dims{4, 2}));
  for (const InputTensor& input : inputs) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(input.data) % kTensorAlignment, 0u);
  }
}

TEST_F(GatherTest, LeavesTheRunsAsTheyWere) {
  AddRun(1, 1);
  AddRun(4, 1);
  gather_.Inputs(batch_);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(pairs_[i], i);
}

TEST_F(GatherTest, KeepsItsMemoryFromBatchToBatch) {
  AddRun(0, 8);
  AddRun(16, 8);
  const void* first = gather_.Inputs(batch_)[0].data;
  batch_.runs.clear();
  batch_.row_count = 0;
  AddRun(2, 1);
  AddRun(7, 1);
  const absl::Span<const InputTensor> inputs = gather_.Inputs(batch_);
  EXPECT_EQ(inputs[0].data, first);
  EXPECT_EQ(inputs[0].bytes, 16u);
  EXPECT_THAT(Elements<int32_t>(inputs[0]), ElementsAre(4, 5, 14, 15));
}

TEST_F(GatherTest, GrowsToALargerBatch) {
  AddRun(0, 1);
  AddRun(1, 1);
  gather_.Inputs(batch_);
  AddRun(2, 30);
  EXPECT_THAT(Elements<int32_t>(gather_.Inputs(batch_)[0]), testing::ElementsAreArray(pairs_));
}

TEST_F(GatherTest, ServesBatchesOfOtherInputs) {
  AddRun(0, 2);
  AddRun(4, 1);
  gather_.Inputs(batch_);
  batch_.inputs.resize(1);
  for (BatchRun& run : batch_.runs) run.inputs.resize(1);
  const absl::Span<const InputTensor> inputs = gather_.Inputs(batch_);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_THAT(Elements<int32_t>(inputs[0]), ElementsAre(0, 1, 2, 3, 8, 9));
}

TEST_F(GatherTest, PutsNoBatchDimBeforeAModelWithoutOne) {
  batch_.has_batch_dim = false;
  AddRun(6, 1);
  const absl::Span<const InputTensor> inputs = gather_.Inputs(batch_);
  EXPECT_EQ(inputs[0].dims, (Dims{2}));
  EXPECT_EQ(inputs[0].bytes, 8u);
  EXPECT_TRUE(inputs[1].dims.empty());
}

// A tensor without elements still has an address: null would mean that there is no tensor.
TEST_F(GatherTest, GivesRowsWithoutBytesAPlace) {
  batch_.inputs[0] = {DataType::kInt32, {0}, 0};
  AddRun(0, 1);
  AddRun(3, 1);
  const absl::Span<const InputTensor> inputs = gather_.Inputs(batch_);
  const InputTensor& input = inputs[0];
  EXPECT_NE(input.data, nullptr);
  EXPECT_EQ(input.bytes, 0u);
  EXPECT_EQ(input.dims, (Dims{2, 0}));
}

// Rows of strings differ in length: each run has its own byte count.
TEST_F(GatherTest, PutsStringsOneBehindTheOther) {
  batch_.inputs.assign(1, {DataType::kBytes, {1}, 0});
  const std::string first("\1\0\0\0a", 5);
  const std::string second("\0\0\0\0\2\0\0\0bc", 10);
  batch_.runs.push_back({1, {first.data()}, {first.size()}});
  batch_.row_count = 1;
  EXPECT_EQ(gather_.Inputs(batch_)[0].data, first.data()) << "one run is not copied";
  batch_.runs.push_back({2, {second.data()}, {second.size()}});
  batch_.row_count = 3;
  const InputTensor& input = gather_.Inputs(batch_)[0];
  EXPECT_EQ(std::string(static_cast<const char*>(input.data), input.bytes), first + second);
  EXPECT_EQ(input.dims, (Dims{3, 1}));
}

}  // namespace
}  // namespace mpsd

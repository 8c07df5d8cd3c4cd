#include "server/lanes/output_sizing.h"

#include <gtest/gtest.h>

#include "proto/base/limits.h"

namespace mpsd {
namespace {

ModelSpec SpecOf(uint32_t max_batch_size, std::vector<TensorSpec> outputs) {
  ModelSpec spec;
  spec.max_batch_size = max_batch_size;
  spec.outputs = std::move(outputs);
  return spec;
}

TEST(OutputSizing, EachOutputBeginsAtAMultipleOf64) {
  const ModelSpec spec = SpecOf(8, {{"A", DataType::kFp32, {3}}, {"B", DataType::kUint8, {1}}});
  EXPECT_EQ(KnownOutputBytes(spec, 1), 64u + 64);
  EXPECT_EQ(KnownOutputBytes(spec, 6), 128u + 64);
}

TEST(OutputSizing, ModelsWithoutBatchesHaveNoBatchDim) {
  EXPECT_EQ(KnownOutputBytes(SpecOf(0, {{"A", DataType::kFp32, {32}}}), 1), 128u);
}

TEST(OutputSizing, AnOpenDimOrBytesAreNotKnown) {
  EXPECT_FALSE(KnownOutputBytes(SpecOf(4, {{"A", DataType::kFp32, {-1}}}), 1).has_value());
  EXPECT_FALSE(KnownOutputBytes(SpecOf(4, {{"A", DataType::kBytes, {1}}}), 1).has_value());
}

TEST(OutputSizing, TheAreaHoldsEveryLanesBatchesAndWhatIsPinned) {
  const ModelSpec large = SpecOf(64, {{"A", DataType::kFp32, {1 << 15}}});  // 8 MiB a batch
  EXPECT_EQ(PinLimitBytes(large, 2, 2), 32u << 20);
  EXPECT_EQ(OutputAreaBytes(large, 2, 2, 0), 96u << 20);
  EXPECT_EQ(OutputAreaBytes(large, 2, 2, 64u << 20), 128u << 20);
  const ModelSpec small = SpecOf(1, {{"A", DataType::kFp32, {1}}});
  EXPECT_EQ(PinLimitBytes(small, 1, 1), kMinPinBytes);
  EXPECT_EQ(OutputAreaBytes(small, 1, 1, 0), 64 + 2 * kMinPinBytes);
}

TEST(OutputSizing, TheAreaHoldsAnOutputOfUnknownShapeAsItIsFirstTaken) {
  const ModelSpec spec = SpecOf(kMaxBatchRows, {{"A", DataType::kFp32, {-1}}});
  EXPECT_GE(OutputAreaBytes(spec, 1, 1, 0), kMaxBatchRows * kAssumedOutputRowBytes);
}

}  // namespace
}  // namespace mpsd

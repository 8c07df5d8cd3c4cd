#include "server/pool/lanes/output_sizing.h"

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
  const OutputArea area = OutputAreaOf(AreaKind::kUsual, large, 2, 2, 0);
  EXPECT_EQ(area.pin_limit_bytes, 32u << 20);
  EXPECT_EQ(area.bytes, 96u << 20);
  EXPECT_EQ(area.largest_lease_bytes, 48u << 20);
  const ModelSpec small = SpecOf(1, {{"A", DataType::kFp32, {1}}});
  const OutputArea small_area = OutputAreaOf(AreaKind::kUsual, small, 1, 1, 0);
  EXPECT_EQ(small_area.pin_limit_bytes, kMinPinBytes);
  EXPECT_EQ(small_area.bytes, 64 + 2 * kMinPinBytes);
}

TEST(OutputSizing, TheLargestAnswerHasHalfOfTheAreaOrAllOfALeanOne) {
  const ModelSpec spec = SpecOf(64, {{"A", DataType::kFp32, {1 << 15}}});
  const OutputArea usual = OutputAreaOf(AreaKind::kUsual, spec, 2, 2, 128u << 20);
  EXPECT_EQ(usual.largest_lease_bytes, 128u << 20);
  EXPECT_EQ(usual.bytes, 256u << 20);
  EXPECT_EQ(usual.pin_limit_bytes, 32u << 20);
  const OutputArea lean = OutputAreaOf(AreaKind::kLean, spec, 2, 2, 128u << 20);
  EXPECT_EQ(lean.largest_lease_bytes, 128u << 20);
  EXPECT_EQ(lean.bytes, 128u << 20);
  EXPECT_EQ(lean.pin_limit_bytes, 0u);
}

TEST(OutputSizing, ALeanAreaIsTheUsualOneWhereTheLargestAnswerFits) {
  const ModelSpec spec = SpecOf(64, {{"A", DataType::kFp32, {1 << 15}}});
  const OutputArea lean = OutputAreaOf(AreaKind::kLean, spec, 2, 2, 48u << 20);
  EXPECT_EQ(lean.bytes, 96u << 20);
  EXPECT_EQ(lean.pin_limit_bytes, 32u << 20);
  EXPECT_EQ(OutputAreaOf(AreaKind::kLean, spec, 2, 2, 64u << 20).bytes, 96u << 20)
      << "never smaller than without such an answer";
}

TEST(OutputSizing, TheAreaHoldsAnOutputOfUnknownShapeAsItIsFirstTaken) {
  const ModelSpec spec = SpecOf(kMaxBatchRows, {{"A", DataType::kFp32, {-1}}});
  EXPECT_GE(OutputAreaOf(AreaKind::kUsual, spec, 1, 1, 0).bytes,
            kMaxBatchRows * kAssumedOutputRowBytes);
}

}  // namespace
}  // namespace mpsd

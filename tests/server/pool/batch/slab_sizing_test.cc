#include "server/pool/batch/slab_sizing.h"

#include <gtest/gtest.h>

#include "proto/base/limits.h"
#include "server/pool/batch/slab_table.h"

namespace mpsd {
namespace {

constexpr uint64_t kPage = 4096;

ModelSpec SpecOf(uint32_t max_batch_size, Dims dims) {
  ModelSpec spec;
  spec.max_batch_size = max_batch_size;
  spec.inputs = {{"IN", DataType::kFp32, std::move(dims)}};
  return spec;
}

ArrivalBounds BoundsOf(uint32_t queue_requests, uint64_t queue_bytes, uint64_t page_bytes = kPage) {
  return {queue_requests, queue_bytes, 64ULL << 20, page_bytes};
}

uint32_t Rows(uint32_t max_batch_size, uint64_t row_bytes) {
  return SlabRows(SpecOf(max_batch_size, {1}), std::vector<uint64_t>{row_bytes});
}

TEST(SlabRows, AreFourLargestBatchesWhereTheyFit) {
  EXPECT_EQ(Rows(8, 64), 32u);
  EXPECT_EQ(Rows(8, 0), 32u);
  EXPECT_EQ(Rows(8, kSlabBytesTarget / 32), 32u);
}

TEST(SlabRows, AreWhatFitsIntoTheTargetElse) {
  EXPECT_EQ(Rows(8, kSlabBytesTarget / 20), 20u);
  EXPECT_EQ(
      SlabRows(SpecOf(8, {1}), std::vector<uint64_t>{kSlabBytesTarget / 40, kSlabBytesTarget / 40}),
      20u);
}

TEST(SlabRows, AreNeverLessThanOneLargestBatch) {
  EXPECT_EQ(Rows(8, kSlabBytesTarget), 8u);
  EXPECT_EQ(Rows(8, 100 * kSlabBytesTarget), 8u);
}

TEST(SlabRows, OfAModelWithoutBatchesAreOne) { EXPECT_EQ(Rows(0, 64), 1u); }

TEST(SlabSegmentBytes, HoldsAQueueOfLargestRequestsAndTwoSlabs) {
  const ModelSpec spec = SpecOf(8, {1 << 14});  // 512 KiB a batch
  const std::vector<uint64_t> row = {1 << 16};
  const uint64_t slab = SlabTable::Bytes(row, SlabRows(spec, row));
  EXPECT_EQ(SlabSegmentBytes(spec, BoundsOf(64, 1ULL << 30)), (32ULL << 20) + 2 * slab + kPage);
}

TEST(SlabSegmentBytes, IsAtLeastAndAtMostSoMuch) {
  const ModelSpec small = SpecOf(1, {1});
  const uint64_t slab = SlabTable::Bytes(std::vector<uint64_t>{4}, 4);
  EXPECT_EQ(SlabSegmentBytes(small, BoundsOf(1, 1ULL << 30)),
            (kMinSlabSegmentBytes + 2 * slab + kPage) / kPage * kPage);
  const ModelSpec large = SpecOf(8, {1 << 16});  // 2 MiB a batch
  EXPECT_LE(SlabSegmentBytes(large, BoundsOf(1'000'000, 1ULL << 40)),
            kMaxSlabSegmentBytes + 2 * (kSlabBytesTarget) + kPage);
}

TEST(SlabSegmentBytes, IsHeldToTheQueuesBytesButHoldsOneLargestSlab) {
  const ModelSpec spec = SpecOf(8, {1 << 20});  // 32 MiB a slab
  const uint64_t slab = 32ULL << 20;
  EXPECT_EQ(SlabSegmentBytes(spec, BoundsOf(256, 1 << 20)), 3 * slab + kPage);
}

TEST(SlabSegmentBytes, TakesAnOpenDimForItsLargestBucketElseForTheAssumedOne) {
  ModelSpec spec = SpecOf(64, {-1});
  ModelSpec assumed = SpecOf(64, {kAssumedUnknownDim});
  EXPECT_EQ(SlabSegmentBytes(spec, BoundsOf(256, 1ULL << 30)),
            SlabSegmentBytes(assumed, BoundsOf(256, 1ULL << 30)));
  spec.pad = {{"IN", 0, {16, 4096}, 0, {}}};
  assumed.inputs[0].dims = {4096};
  EXPECT_EQ(SlabSegmentBytes(spec, BoundsOf(256, 1ULL << 30)),
            SlabSegmentBytes(assumed, BoundsOf(256, 1ULL << 30)));
}

TEST(SlabSegmentBytes, NoMessageBringsMoreThanOpenDimsAreAssumedToTake) {
  ModelSpec spec = SpecOf(8, {-1, -1, -1});  // 512 MiB a row, if each were 512
  spec.inputs.push_back(spec.inputs.front());
  const ArrivalBounds bounds = BoundsOf(256, 1ULL << 30);
  EXPECT_EQ(SlabSegmentBytes(spec, bounds), kMaxSlabSegmentBytes + kPage);
  spec.inputs[0].dims = Dims(8, -1);  // cannot be counted
  EXPECT_EQ(SlabSegmentBytes(spec, bounds), kMaxSlabSegmentBytes + kPage);
  ArrivalBounds small = bounds;
  small.message_bytes = 1 << 20;
  spec = SpecOf(1, {-1, -1, -1});
  small.queue_requests = 1;
  EXPECT_EQ(SlabSegmentBytes(spec, small), 3 * (4ULL << 20) + kPage);  // 4 rows a slab
}

TEST(SlabSegmentBytes, OpenDimsOfBytesAreNotGuessed) {
  ModelSpec spec = SpecOf(8, {-1});
  spec.inputs[0].datatype = DataType::kBytes;
  EXPECT_EQ(SlabSegmentBytes(spec, BoundsOf(256, 1ULL << 30)), kMinSlabSegmentBytes + kPage);
}

TEST(SlabSegmentBytes, ItsHeaderLeavesRoomForTheSlabs) {
  const ModelSpec spec = SpecOf(8, {1 << 20});
  absl::StatusOr<OwnedSegment> segment = OwnedSegment::Create(
      SegmentKind::kSlabs, SlabSegmentBytes(spec, BoundsOf(1, 1, platform::PageBytes())), 0);
  ASSERT_TRUE(segment.ok());
  SlabTable table;
  table.AddSegment(*std::move(segment), 0);
  for (int slab = 0; slab < 3; ++slab) {
    EXPECT_TRUE(table.Lease(8 * (4ULL << 20), 8).ok()) << slab;
  }
}

TEST(GrowthBytes, AsMuchAgainWithinBoundsAndWhatIsNeeded) {
  EXPECT_EQ(GrowthBytes(100, 0, kPage), kMinSlabSegmentBytes);
  EXPECT_EQ(GrowthBytes(100, 10ULL << 20, kPage), 10ULL << 20);
  EXPECT_EQ(GrowthBytes(100, 1ULL << 40, kPage), kMaxGrowthBytes);
  const uint64_t large = 3 * kMaxGrowthBytes;
  EXPECT_GE(GrowthBytes(large, 0, kPage), large + sizeof(SegmentHeader));
  EXPECT_EQ(GrowthBytes(large, 0, kPage) % kPage, 0u);
  EXPECT_LT(GrowthBytes(large, 0, kPage), large + 2 * kPage);
}

TEST(ExtentBytes, WholePagesBeyondASlab) {
  EXPECT_EQ(ExtentBytes(100, 4096), 100u);
  EXPECT_EQ(ExtentBytes(kSlabBytesTarget, 4096), kSlabBytesTarget);
  EXPECT_EQ(ExtentBytes(kSlabBytesTarget + 1, 4096), kSlabBytesTarget + 4096);
  EXPECT_EQ(ExtentBytes(kSlabBytesTarget + 1, 16384), kSlabBytesTarget + 16384);
}

}  // namespace
}  // namespace mpsd

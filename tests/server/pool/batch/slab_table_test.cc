#include "server/pool/batch/slab_table.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

class SlabTableTest : public testing::Test {
 protected:
  SlabTableTest() { AddSegment(); }

  void AddSegment() {
    absl::StatusOr<OwnedSegment> segment =
        OwnedSegment::Create(SegmentKind::kSlabs, platform::PageBytes(), 0);
    ASSERT_TRUE(segment.ok());
    table_.AddSegment(*std::move(segment), table_.segment_count());
  }

  absl::StatusOr<uint32_t> Lease(const std::vector<uint64_t>& row_bytes, uint32_t row_capacity) {
    return table_.Lease(SlabTable::Bytes(row_bytes, row_capacity), row_capacity);
  }

  SlabTable table_;
};

TEST(SlabBytes, EachRegionIsRoundedUpTo64) {
  EXPECT_EQ(SlabTable::Bytes(std::vector<uint64_t>{8, 3}, 10), 128u + 64);
  EXPECT_EQ(SlabTable::Bytes(std::vector<uint64_t>{64}, 2), 128u);
  EXPECT_EQ(SlabTable::Bytes(std::vector<uint64_t>{0}, 5), 0u);
}

TEST_F(SlabTableTest, ReservesRowsOneBehindTheOther) {
  const std::vector<uint64_t> row = {16};
  const uint32_t slab = Lease(row, 4).value();
  uint32_t first = 99;
  EXPECT_TRUE(table_.Reserve(slab, 3, &first));
  EXPECT_EQ(first, 0u);
  EXPECT_FALSE(table_.Reserve(slab, 2, &first));
  EXPECT_TRUE(table_.Reserve(slab, 1, &first));
  EXPECT_EQ(first, 3u);
  EXPECT_EQ(table_.slab(slab).live_rows, 4u);
  EXPECT_EQ(table_.slab(slab).offset % kTensorAlignment, 0u);
  EXPECT_GE(table_.slab(slab).offset, sizeof(SegmentHeader));
  EXPECT_EQ(table_.Address(slab, 0, 3, 16) - table_.Address(slab, 0, 0, 16), 48);
}

TEST_F(SlabTableTest, RowsOfAnOpenSlabBeginAgainWhenNoneLives) {
  const uint32_t slab = Lease({16}, 4).value();
  uint32_t first = 0;
  ASSERT_TRUE(table_.Reserve(slab, 4, &first));
  table_.EndRows(slab, 3);
  EXPECT_FALSE(table_.Reserve(slab, 1, &first)) << "one lives still";
  table_.EndRows(slab, 1);
  EXPECT_TRUE(table_.Reserve(slab, 1, &first));
  EXPECT_EQ(first, 0u);
}

TEST_F(SlabTableTest, AClosedSlabIsFreedWithItsLastRow) {
  const uint32_t slab = Lease({16}, 4).value();
  uint32_t first = 0;
  ASSERT_TRUE(table_.Reserve(slab, 2, &first));
  table_.Close(slab);
  table_.EndRows(slab, 1);
  EXPECT_EQ(table_.leased_count(), 1u);
  table_.EndRows(slab, 1);
  EXPECT_EQ(table_.leased_count(), 0u);
}

TEST_F(SlabTableTest, AnEmptySlabIsFreedWhenItIsClosed) {
  table_.Close(Lease({16}, 4).value());
  EXPECT_EQ(table_.leased_count(), 0u);
}

TEST_F(SlabTableTest, UsesTheNextSegmentWhenOneIsFull) {
  const std::vector<uint64_t> row = {platform::PageBytes() - sizeof(SegmentHeader)};
  const uint32_t first = Lease(row, 1).value();
  EXPECT_EQ(Lease(row, 1).status().code(), absl::StatusCode::kResourceExhausted);
  AddSegment();
  const uint32_t second = Lease(row, 1).value();
  EXPECT_EQ(table_.slab(first).segment, 0u);
  EXPECT_EQ(table_.slab(second).segment, 1u);
}

TEST_F(SlabTableTest, RowsWithoutBytesTakeASlabToo) {
  const uint32_t slab = Lease({0}, 4).value();
  uint32_t first = 0;
  EXPECT_TRUE(table_.Reserve(slab, 4, &first));
  table_.EndRows(slab, 4);
  table_.Close(slab);
  EXPECT_EQ(table_.leased_count(), 0u);
}

using SlabTableDeath = SlabTableTest;

TEST_F(SlabTableDeath, EndingMoreRowsThanLiveIsAFalseBelief) {
  const uint32_t slab = Lease({16}, 4).value();
  EXPECT_DEATH(table_.EndRows(slab, 1), "check failed");
}

// ---- segments that come and go ----

TEST_F(SlabTableTest, ARetiringSegmentTakesNoSlabAndIsGivenBack) {
  AddSegment();
  EXPECT_EQ(table_.segment_bytes(), 2 * platform::PageBytes());
  EXPECT_EQ(table_.RetireIdle(2), std::nullopt);
  EXPECT_EQ(table_.RetireIdle(2), std::optional<uint32_t>(1));
  const std::vector<uint64_t> row = {platform::PageBytes() - sizeof(SegmentHeader)};
  ASSERT_TRUE(Lease(row, 1).ok());
  EXPECT_FALSE(Lease(row, 1).ok());
  EXPECT_EQ(table_.RemoveSegment(1).bytes(), platform::PageBytes());
  EXPECT_EQ(table_.segment_count(), 1u);
  ASSERT_EQ(table_.Segments().size(), 1u);
  AddSegment();
  EXPECT_TRUE(Lease(row, 1).ok());
}

TEST_F(SlabTableTest, ASegmentInUseIsNotIdleNorIsItsTimeCounted) {
  AddSegment();
  EXPECT_EQ(table_.RetireIdle(2), std::nullopt) << "idle once, before it is used";
  const std::vector<uint64_t> row = {platform::PageBytes() - sizeof(SegmentHeader)};
  ASSERT_TRUE(Lease(row, 1).ok());
  const uint32_t second = Lease(row, 1).value();
  EXPECT_EQ(table_.RetireIdle(1), std::nullopt);
  table_.Close(second);
  EXPECT_EQ(table_.RetireIdle(2), std::nullopt);
  EXPECT_EQ(table_.RetireIdle(2), std::optional<uint32_t>(1));
}

TEST_F(SlabTableTest, NumbersMayHaveGaps) {
  absl::StatusOr<OwnedSegment> segment =
      OwnedSegment::Create(SegmentKind::kSlabs, platform::PageBytes(), 0);
  table_.AddSegment(*std::move(segment), 5);
  ASSERT_EQ(table_.Segments().size(), 2u);
  EXPECT_EQ(table_.Segments()[1].number, 5u);
  const std::vector<uint64_t> row = {platform::PageBytes() - sizeof(SegmentHeader)};
  ASSERT_TRUE(Lease(row, 1).ok());
  EXPECT_EQ(table_.slab(Lease(row, 1).value()).segment, 5u);
}

TEST_F(SlabTableDeath, ASegmentThatIsNotRetiringStays) {
  AddSegment();
  EXPECT_DEATH(table_.RemoveSegment(1), "check failed");
  EXPECT_DEATH(table_.RemoveSegment(0), "check failed");
  EXPECT_DEATH(table_.RemoveSegment(7), "check failed");
}

}  // namespace
}  // namespace mpsd

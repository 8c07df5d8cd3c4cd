#include "worker/execute/lease_sink.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace mpsd {
namespace {

class LeaseSinkTest : public testing::Test {
 protected:
  LeaseSink Sink(uint64_t lease_bytes = sizeof(lease_)) {
    return LeaseSink(lease_, lease_bytes, /*row_count=*/3, record_.get());
  }

  alignas(64) char lease_[512] = {};
  std::unique_ptr<CompletionRecord> record_ = std::make_unique<CompletionRecord>();
};

TEST_F(LeaseSinkTest, PlacesOutputsAtAlignedOffsets) {
  LeaseSink sink = Sink();
  EXPECT_EQ(sink.Add(DataType::kFp32, {3, 5}), lease_);
  EXPECT_EQ(sink.Add(DataType::kUint8, {1}), lease_ + 64);
  EXPECT_EQ(sink.Add(DataType::kInt64, {3, 0}), lease_ + 128);
  EXPECT_EQ(sink.Add(DataType::kInt64, {3, 2}), lease_ + 128);
  EXPECT_TRUE(sink.fits());
  EXPECT_TRUE(sink.valid());
  EXPECT_EQ(sink.needed_bytes(), 176u);
}

TEST_F(LeaseSinkTest, WritesDownWhatItPlaced) {
  LeaseSink sink = Sink();
  sink.Add(DataType::kFp32, {3, 5});
  sink.Add(DataType::kInt64, {});
  ASSERT_EQ(record_->output_count, 2u);
  EXPECT_EQ(record_->outputs[0].datatype, static_cast<uint32_t>(DataType::kFp32));
  EXPECT_EQ(record_->outputs[0].rank, 2u);
  EXPECT_EQ(record_->outputs[0].dims[0], 3);
  EXPECT_EQ(record_->outputs[0].dims[1], 5);
  EXPECT_EQ(record_->outputs[0].offset, 0u);
  EXPECT_EQ(record_->outputs[0].bytes, 60u);
  EXPECT_EQ(record_->outputs[1].rank, 0u);
  EXPECT_EQ(record_->outputs[1].offset, 64u);
  EXPECT_EQ(record_->outputs[1].bytes, 8u);
}

TEST_F(LeaseSinkTest, FillsTheLeaseToItsLastByte) {
  LeaseSink sink = Sink(128);
  EXPECT_EQ(sink.Add(DataType::kUint8, {128}), lease_);
  EXPECT_TRUE(sink.fits());
}

TEST_F(LeaseSinkTest, KeepsCountingWhenTheLeaseIsTooSmall) {
  LeaseSink sink = Sink(127);
  EXPECT_EQ(sink.Add(DataType::kUint8, {64}), lease_);
  EXPECT_EQ(sink.Add(DataType::kUint8, {64}), nullptr);
  EXPECT_FALSE(sink.fits());
  EXPECT_EQ(sink.Add(DataType::kUint8, {1}), nullptr);
  EXPECT_EQ(sink.needed_bytes(), 129u);
  EXPECT_TRUE(sink.valid());
}

TEST_F(LeaseSinkTest, HasNoRoomInALeaseOfNoBytes) {
  LeaseSink sink(nullptr, 0, 1, record_.get());
  EXPECT_EQ(sink.Add(DataType::kUint8, {1}), nullptr);
  EXPECT_FALSE(sink.fits());
  EXPECT_EQ(sink.needed_bytes(), 1u);
}

TEST_F(LeaseSinkTest, TakesAsManyOutputsAsARecordHolds) {
  LeaseSink sink = Sink();
  for (size_t i = 0; i < kMaxTensors; ++i) sink.Add(DataType::kUint8, {0});
  EXPECT_TRUE(sink.valid());
  EXPECT_EQ(sink.Add(DataType::kUint8, {0}), nullptr);
  EXPECT_FALSE(sink.valid());
  EXPECT_EQ(record_->output_count, kMaxTensors);
}

TEST_F(LeaseSinkTest, TakesTheLargestRankAndNoLarger) {
  LeaseSink sink = Sink();
  EXPECT_NE(sink.Add(DataType::kUint8, std::vector<int64_t>(kMaxRank + 1, 1)), nullptr);
  EXPECT_TRUE(sink.valid());
  EXPECT_EQ(sink.Add(DataType::kUint8, std::vector<int64_t>(kMaxRank + 2, 1)), nullptr);
  EXPECT_FALSE(sink.valid());
}

TEST_F(LeaseSinkTest, RefusesANegativeDim) {
  LeaseSink sink = Sink();
  EXPECT_EQ(sink.Add(DataType::kFp32, {3, -1}), nullptr);
  EXPECT_FALSE(sink.valid());
}

TEST_F(LeaseSinkTest, RefusesDimsThatOverflow) {
  LeaseSink sink = Sink();
  EXPECT_EQ(sink.Add(DataType::kFp32, {1LL << 40, 1LL << 40}), nullptr);
  EXPECT_FALSE(sink.valid());
}

TEST_F(LeaseSinkTest, RefusesOutputsThatOverflowTogether) {
  LeaseSink sink = Sink();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sink.Add(DataType::kUint8, {1LL << 62}), nullptr);
  EXPECT_EQ(sink.Add(DataType::kUint8, {1}), nullptr) << "the sum has come round to the lease";
  EXPECT_FALSE(sink.valid() && sink.fits());
}

TEST_F(LeaseSinkTest, RefusesWhatIsOfNoServeableType) {
  for (const DataType datatype : {DataType::kInvalid, DataType::kBytes, DataType{99}}) {
    LeaseSink sink = Sink();
    EXPECT_EQ(sink.Add(datatype, {1}), nullptr);
    EXPECT_FALSE(sink.valid());
  }
}

TEST_F(LeaseSinkTest, MarksTheRowsThatFailed) {
  LeaseSink sink = Sink();
  sink.FailRow(0, "first");
  sink.FailRow(2, "last");
  EXPECT_TRUE(sink.valid());
  EXPECT_EQ(record_->row_failed[0], 1);
  EXPECT_EQ(record_->row_failed[1], 0);
  EXPECT_EQ(record_->row_failed[2], 1);
  EXPECT_EQ(std::string(record_->text, record_->text_bytes), "last");
}

TEST_F(LeaseSinkTest, RefusesARowThatIsNotInTheBatch) {
  for (const uint32_t row : {3u, kMaxBatchRows, UINT32_MAX}) {
    LeaseSink sink = Sink();
    sink.FailRow(row, "nobody");
    EXPECT_FALSE(sink.valid());
    EXPECT_EQ(record_->text_bytes, 0u);
  }
}

TEST(SetText, CutsWhatIsTooLong) {
  const auto record = std::make_unique<CompletionRecord>();
  SetText(record.get(), std::string(kErrorTextBytes + 1, 'x'));
  EXPECT_EQ(record->text_bytes, kErrorTextBytes);
  EXPECT_EQ(record->text[kErrorTextBytes - 1], 'x');
}

TEST(SetText, TakesNoTextForAnEmptyOne) {
  const auto record = std::make_unique<CompletionRecord>();
  SetText(record.get(), "something");
  SetText(record.get(), absl::string_view());
  EXPECT_EQ(record->text_bytes, 0u);
}

TEST_F(LeaseSinkTest, StringsTakeTheBytesThatTheyAreSaidTo) {
  LeaseSink sink = Sink();
  EXPECT_EQ(sink.AddBytes({3, 1}, 70), lease_);
  EXPECT_EQ(sink.Add(DataType::kUint8, {1}), lease_ + 128);
  EXPECT_EQ(record_->outputs[0].datatype, static_cast<uint32_t>(DataType::kBytes));
  EXPECT_EQ(record_->outputs[0].bytes, 70u);
  EXPECT_EQ(record_->outputs[0].rank, 2u);
  EXPECT_EQ(sink.AddBytes({3}, 1000), nullptr);
  EXPECT_TRUE(sink.valid());
  EXPECT_FALSE(sink.fits());
  EXPECT_EQ(sink.AddBytes({-1}, 1), nullptr);
  EXPECT_FALSE(sink.valid());
}

}  // namespace
}  // namespace mpsd

#include "worker/consume/batch_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tests/worker/consume/front_memory.h"

namespace mpsd {
namespace {

constexpr uint64_t kSlabBytes = 192;  // A's region 64, B's 128
constexpr uint64_t kReadLeaseBytes = 256;

// A model of at most four rows with inputs A: FP32[2] and B: INT64[any], and the record of a batch
// of three rows, in two runs. Slab and lease end where their segments end, so that a larger range
// lies outside.
class BatchRecordTest : public testing::Test {
 protected:
  BatchRecordTest() {
    spec_.max_batch_size = 4;
    spec_.inputs = {{"A", DataType::kFp32, {2}}, {"B", DataType::kInt64, {-1}}};
    BatchRecord* record = record_.get();
    record->batch_id = 31;
    record->live_until_ns = 1000;
    record->output_offset = front_.worker_bytes() - kReadLeaseBytes;
    record->output_bytes = kReadLeaseBytes;
    record->row_count = 3;
    record->run_count = 2;
    record->input_count = 2;
    record->has_batch_dim = 1;
    record->inputs[0] = {static_cast<uint32_t>(DataType::kFp32), 1, {2}, 8};
    record->inputs[1] = {static_cast<uint32_t>(DataType::kInt64), 1, {3}, 24};
    record->runs[0] = {0, 4, 2, 2, FrontMemory::Page() - kSlabBytes};
    record->runs[1] = {1, 4, 0, 1, sizeof(SegmentHeader)};
  }

  absl::Status Read() { return BatchReader(&attachment_, &spec_).Read(*record_, &batch_); }

  FrontMemory front_;
  const Attachment attachment_ =
      Attachment::Map(front_.Order(), front_.Fds(), /*lanes=*/1, /*epoch=*/1).value();
  ModelSpec spec_;
  std::unique_ptr<BatchRecord> record_ = std::make_unique<BatchRecord>();
  Batch batch_;
};

TEST_F(BatchRecordTest, IsRead) {
  const uint64_t slab = FrontMemory::Page() - kSlabBytes;
  front_.slab(0)[slab + 2 * 8] = 'a';
  front_.slab(0)[slab + 64 + 2 * 24] = 'b';
  front_.slab(1)[sizeof(SegmentHeader)] = 'c';
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.id, 31u);
  EXPECT_EQ(batch_.live_until_ns, 1000);
  EXPECT_EQ(batch_.row_count, 3u);
  EXPECT_TRUE(batch_.has_batch_dim);
  ASSERT_EQ(batch_.inputs.size(), 2u);
  EXPECT_EQ(batch_.inputs[0].datatype, DataType::kFp32);
  EXPECT_EQ(batch_.inputs[1].dims, (Dims{3}));
  EXPECT_EQ(batch_.inputs[1].row_bytes, 24u);
  ASSERT_EQ(batch_.runs.size(), 2u);
  EXPECT_EQ(batch_.runs[0].row_count, 2u);
  EXPECT_EQ(*batch_.runs[0].inputs[0], 'a');
  EXPECT_EQ(*batch_.runs[0].inputs[1], 'b');
  EXPECT_EQ(*batch_.runs[1].inputs[0], 'c');
  EXPECT_EQ(batch_.output, attachment_.OutputBytes(record_->output_offset, kReadLeaseBytes));
  EXPECT_EQ(batch_.output_bytes, kReadLeaseBytes);
}

TEST_F(BatchRecordTest, IsReadOverTheOneBefore) {
  ASSERT_TRUE(Read().ok());
  record_->run_count = 1;
  record_->row_count = 2;
  record_->inputs[1] = {static_cast<uint32_t>(DataType::kInt64), 1, {0}, 0};
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(batch_.runs.size(), 1u);
  EXPECT_EQ(batch_.runs[0].inputs.size(), 2u);
  EXPECT_EQ(batch_.inputs[1].dims, (Dims{0}));
}

TEST_F(BatchRecordTest, OfAModelWithoutBatchesHasOneRow) {
  spec_.max_batch_size = 0;
  record_->has_batch_dim = 0;
  record_->run_count = 1;
  record_->row_count = record_->runs[0].row_count = 1;
  EXPECT_TRUE(Read().ok());
  record_->row_count = record_->runs[0].row_count = 2;
  EXPECT_FALSE(Read().ok());
}

TEST_F(BatchRecordTest, OfADecoupledModelNamesAnAnswer) {
  record_->answer_index = 1;
  EXPECT_FALSE(Read().ok());
  spec_.max_batch_size = 0;
  spec_.decoupled = true;
  record_->has_batch_dim = 0;
  record_->run_count = 1;
  record_->row_count = record_->runs[0].row_count = 1;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.answer_index, 1u);
  record_->answer_index = kMaxAnswers;  // the test expects that there is no such answer
  EXPECT_TRUE(Read().ok());
  record_->answer_index = kMaxAnswers + 1;
  EXPECT_FALSE(Read().ok());
}

TEST_F(BatchRecordTest, MayLeaveOutAnOptionalInput) {
  record_->inputs[0] = {};
  EXPECT_FALSE(Read().ok());
  spec_.inputs[0].optional = true;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.inputs[0].datatype, DataType::kInvalid);
  EXPECT_EQ(batch_.runs[0].input_bytes[0], 0u);
  record_->inputs[0].rank = 1;
  EXPECT_FALSE(Read().ok());
  record_->inputs[0] = {0, 0, {}, 8};
  EXPECT_FALSE(Read().ok());
}

TEST_F(BatchRecordTest, MayHaveAsManyRunsAsTheRecordHolds) {
  spec_.max_batch_size = kMaxRuns;
  record_->row_count = record_->run_count = kMaxRuns;
  for (uint32_t i = 0; i < kMaxRuns; ++i) {
    record_->runs[i] = {1, 4, i % 4, 1, sizeof(SegmentHeader)};
  }
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.runs.size(), kMaxRuns);
}

// ---- records that are refused ----

struct RecordCase {
  const char* name;
  std::function<void(BatchRecord*)> change;
};

class MalformedBatchRecord : public BatchRecordTest,
                             public testing::WithParamInterface<RecordCase> {};

TEST_P(MalformedBatchRecord, IsRefused) {
  ASSERT_TRUE(Read().ok());
  GetParam().change(record_.get());
  EXPECT_EQ(Read().code(), absl::StatusCode::kInternal);
}

std::string CaseName(const testing::TestParamInfo<RecordCase>& tested) { return tested.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Head, MalformedBatchRecord,
    testing::Values(
        RecordCase{"NoRows", [](BatchRecord* r) { r->row_count = 0; }},
        RecordCase{"FewerRowsThanItsRuns", [](BatchRecord* r) { r->row_count = 2; }},
        RecordCase{"MoreRowsThanItsRuns", [](BatchRecord* r) { r->row_count = 4; }},
        RecordCase{"MoreRowsThanTheModelTakes",
                   [](BatchRecord* r) {
                     r->row_count = 5;
                     r->runs[0].first_row = 0;
                     r->runs[0].row_count = 4;
                   }},
        RecordCase{"RowsHuge", [](BatchRecord* r) { r->row_count = UINT32_MAX; }},
        RecordCase{"NoBatchDim", [](BatchRecord* r) { r->has_batch_dim = 0; }},
        RecordCase{"OutputInTheReports", [](BatchRecord* r) { r->output_offset = 0; }},
        RecordCase{"OutputBeyondTheSegment", [](BatchRecord* r) { r->output_offset += 64; }},
        RecordCase{"OutputLargerThanTheArea", [](BatchRecord* r) { r->output_bytes += 1; }},
        RecordCase{"OutputOffsetHuge", [](BatchRecord* r) { r->output_offset = UINT64_MAX - 63; }},
        RecordCase{"OutputBytesHuge", [](BatchRecord* r) { r->output_bytes = UINT64_MAX; }},
        RecordCase{"OutputNotAligned",
                   [](BatchRecord* r) {
                     r->output_offset += 8;
                     r->output_bytes -= 8;
                   }}),
    CaseName);

INSTANTIATE_TEST_SUITE_P(
    Inputs, MalformedBatchRecord,
    testing::Values(
        RecordCase{"FewerInputs", [](BatchRecord* r) { r->input_count = 1; }},
        RecordCase{"MoreInputs", [](BatchRecord* r) { r->input_count = 3; }},
        RecordCase{"InputsHuge", [](BatchRecord* r) { r->input_count = UINT32_MAX; }},
        RecordCase{"AnotherDataType",
                   [](BatchRecord* r) {
                     r->inputs[0].datatype = static_cast<uint32_t>(DataType::kInt32);
                   }},
        RecordCase{"NoDataType", [](BatchRecord* r) { r->inputs[0].datatype = 0; }},
        RecordCase{"UnknownDataType", [](BatchRecord* r) { r->inputs[0].datatype = 0xffff; }},
        RecordCase{"SmallerRank",
                   [](BatchRecord* r) {
                     r->inputs[0].rank = 0;
                     r->inputs[0].row_bytes = 4;
                   }},
        RecordCase{"LargerRank",
                   [](BatchRecord* r) {
                     r->inputs[1].rank = 2;
                     r->inputs[1].dims[1] = 1;
                   }},
        RecordCase{"RankBeyondTheRecord", [](BatchRecord* r) { r->inputs[0].rank = kMaxRank + 1; }},
        RecordCase{"RankHuge", [](BatchRecord* r) { r->inputs[0].rank = UINT32_MAX; }},
        RecordCase{"AnotherFixedDim",
                   [](BatchRecord* r) {
                     r->inputs[0].dims[0] = 1;
                     r->inputs[0].row_bytes = 4;
                   }},
        RecordCase{"NegativeDim", [](BatchRecord* r) { r->inputs[1].dims[0] = -1; }},
        RecordCase{"DimThatOverflows",
                   [](BatchRecord* r) {
                     r->inputs[1].dims[0] = (1LL << 61) + 3;
                     r->inputs[1].row_bytes = 24;
                   }},
        RecordCase{"RowBytesLess", [](BatchRecord* r) { r->inputs[1].row_bytes = 16; }},
        RecordCase{"RowBytesMore", [](BatchRecord* r) { r->inputs[0].row_bytes = 16; }},
        RecordCase{"RowsLargerThanTheSlab",
                   [](BatchRecord* r) {
                     r->inputs[1].dims[0] = 5;
                     r->inputs[1].row_bytes = 40;
                   }},
        RecordCase{"RegionThatOverflows",
                   [](BatchRecord* r) {
                     r->inputs[1].dims[0] = 1LL << 59;
                     r->inputs[1].row_bytes = 1ULL << 62;
                   }}),
    CaseName);

INSTANTIATE_TEST_SUITE_P(
    Runs, MalformedBatchRecord,
    testing::Values(
        RecordCase{"NoRuns", [](BatchRecord* r) { r->run_count = 0; }},
        RecordCase{"RunsBeyondTheRecord", [](BatchRecord* r) { r->run_count = kMaxRuns + 1; }},
        RecordCase{"RunsHuge", [](BatchRecord* r) { r->run_count = UINT32_MAX; }},
        RecordCase{"UnknownSegment", [](BatchRecord* r) { r->runs[1].segment = 2; }},
        RecordCase{"SegmentHuge", [](BatchRecord* r) { r->runs[0].segment = UINT32_MAX; }},
        RecordCase{"SlabInTheHeader", [](BatchRecord* r) { r->runs[1].slab_offset = 64; }},
        RecordCase{"SlabReachesBeyondTheSegment",
                   [](BatchRecord* r) { r->runs[0].slab_offset += 64; }},
        RecordCase{"SlabBeyondTheSegment",
                   [](BatchRecord* r) { r->runs[0].slab_offset += 1ULL << 32; }},
        RecordCase{"SlabOffsetHuge",
                   [](BatchRecord* r) { r->runs[0].slab_offset = UINT64_MAX - 63; }},
        RecordCase{"SlabNotAligned", [](BatchRecord* r) { r->runs[1].slab_offset += 8; }},
        RecordCase{"CapacityBeyondTheSegment", [](BatchRecord* r) { r->runs[0].row_capacity = 9; }},
        RecordCase{"CapacityHuge", [](BatchRecord* r) { r->runs[0].row_capacity = UINT32_MAX; }},
        RecordCase{"NoCapacity", [](BatchRecord* r) { r->runs[0].row_capacity = 0; }},
        RecordCase{"RunOfNoRows",
                   [](BatchRecord* r) {
                     r->runs[1].row_count = 0;
                     r->row_count = 2;
                   }},
        RecordCase{"RunBeyondTheCapacity", [](BatchRecord* r) { r->runs[0].first_row = 3; }},
        RecordCase{"FirstRowBeyondTheCapacity", [](BatchRecord* r) { r->runs[0].first_row = 5; }},
        RecordCase{"RunThatComesRound",
                   [](BatchRecord* r) { r->runs[0].first_row = UINT32_MAX - 1; }},
        RecordCase{"RowsThatComeRound",
                   [](BatchRecord* r) {
                     r->runs[0].row_count = UINT32_MAX;
                     r->runs[0].first_row = 4;
                   }}),
    CaseName);

// Every accepted address lies inside.
TEST_F(BatchRecordTest, OfRandomBytesNeverLeavesTheSegments) {
  std::mt19937_64 random(5);
  const auto honest = std::make_unique<BatchRecord>();
  std::memcpy(static_cast<void*>(honest.get()), record_.get(), sizeof(BatchRecord));
  auto* bytes = reinterpret_cast<unsigned char*>(record_.get());
  const uint64_t places[] = {0, offsetof(BatchRecord, inputs), offsetof(BatchRecord, runs)};
  const uint64_t lengths[] = {48, 2 * sizeof(InputRecord), 2 * sizeof(RowRun)};
  uint64_t sum = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::memcpy(static_cast<void*>(record_.get()), honest.get(), sizeof(BatchRecord));
    for (uint64_t i = 0; i <= random() % 3; ++i) {
      const uint64_t part = random() % 3;
      bytes[places[part] + random() % lengths[part]] ^= 1U << (random() % 8);
    }
    if (!Read().ok()) continue;
    // A read or write outside the mappings would end the test.
    for (const BatchRun& run : batch_.runs) {
      for (size_t i = 0; i < batch_.inputs.size(); ++i) {
        const uint64_t length = run.row_count * batch_.inputs[i].row_bytes;
        for (uint64_t at = 0; at < length; ++at) sum += static_cast<uint8_t>(run.inputs[i][at]);
      }
    }
    ASSERT_NE(attachment_.OutputBytes(record_->output_offset, batch_.output_bytes), nullptr);
    std::memset(batch_.output, 0, batch_.output_bytes);
  }
  EXPECT_EQ(sum, 0u) << "bytes were read that are none of the slabs'";
}

// ---- strings ----

// Input B is strings, one in each row: each run is a slab of its own.
class StringRecord : public BatchRecordTest {
 protected:
  StringRecord() {
    spec_.inputs[1] = {"B", DataType::kBytes, {1}};
    record_->inputs[1] = {static_cast<uint32_t>(DataType::kBytes), 1, {1}, 0};
    record_->runs[0] = {0, 2, 0, 2, sizeof(SegmentHeader)};
    record_->runs[1] = {1, 1, 0, 1, FrontMemory::Page() - 192};
    record_->byte_counts[0] = 9;
    record_->byte_counts[1] = 100;
  }
};

TEST_F(StringRecord, SaysHowLongEachRunIs) {
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.bytes_inputs, 1u);
  EXPECT_EQ(batch_.runs[0].input_bytes[0], 16u);
  EXPECT_EQ(batch_.runs[0].input_bytes[1], 9u);
  EXPECT_EQ(batch_.runs[1].input_bytes[1], 100u);
  EXPECT_EQ(batch_.runs[0].inputs[1] - batch_.runs[0].inputs[0], 64);
}

TEST_F(StringRecord, MayFillItsSegmentToTheLastByte) {
  record_->byte_counts[1] = 128;
  EXPECT_TRUE(Read().ok());
  record_->byte_counts[1] = 129;
  EXPECT_FALSE(Read().ok());
  record_->byte_counts[1] = UINT64_MAX;
  EXPECT_FALSE(Read().ok());
}

TEST_F(StringRecord, OfARunThatIsNotItsWholeSlabIsRefused) {
  record_->runs[0].row_capacity = 3;
  EXPECT_FALSE(Read().ok());
}

TEST_F(StringRecord, WithBytesARowIsRefused) {
  record_->inputs[1].row_bytes = 8;
  EXPECT_FALSE(Read().ok());
}

TEST_F(StringRecord, WithMoreCountsThanItHoldsIsRefused) {
  constexpr uint32_t kStrings = 8;
  spec_.max_batch_size = kMaxRuns;
  spec_.inputs.assign(kStrings, {"B", DataType::kBytes, {1}});
  record_->input_count = kStrings;
  for (uint32_t i = 0; i < kStrings; ++i) {
    record_->inputs[i] = {static_cast<uint32_t>(DataType::kBytes), 1, {1}, 0};
  }
  const auto read = [this](uint32_t runs) {
    record_->row_count = record_->run_count = runs;
    for (uint32_t i = 0; i < runs; ++i) record_->runs[i] = {1, 1, 0, 1, sizeof(SegmentHeader)};
    return Read().ok();
  };
  std::fill_n(record_->byte_counts, kMaxByteCounts, 0);
  EXPECT_TRUE(read(kMaxByteCounts / kStrings));
  EXPECT_FALSE(read(kMaxByteCounts / kStrings + 1));
}

}  // namespace
}  // namespace mpsd

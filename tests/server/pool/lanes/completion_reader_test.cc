#include "server/pool/lanes/completion_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Three rows of a model with two outputs: FP32[2] and INT64[any].
class Completion : public testing::Test {
 protected:
  Completion() {
    spec_.max_batch_size = 4;
    spec_.outputs = {{"A", DataType::kFp32, {2}}, {"B", DataType::kInt64, {-1}}};
    expected_.batch_id = 17;
    expected_.row_count = 3;
    expected_.lease_bytes = sizeof(lease_);
    expected_.lease_data = lease_;
    expected_.batched_ns = 100;
    expected_.now_ns = 200;
    record_ = std::make_unique<CompletionRecord>();
    record_->batch_id = 17;
    record_->outcome = BatchOutcome::kDone;
    record_->row_count = 3;
    record_->output_count = 2;
    record_->started_ns = 120;
    record_->finished_ns = 150;
    record_->outputs[0] = {static_cast<uint32_t>(DataType::kFp32), 2, {3, 2}, 0, 24};
    record_->outputs[1] = {static_cast<uint32_t>(DataType::kInt64), 2, {3, 4}, 64, 96};
  }

  absl::Status Read() {
    return ReadCompletion(*record_, expected_, spec_, &batch_, &needed_bytes_);
  }

  alignas(64) char lease_[256] = {};
  ModelSpec spec_;
  ExpectedCompletion expected_;
  std::unique_ptr<CompletionRecord> record_;
  CompletedBatch batch_;
  uint64_t needed_bytes_ = 0;
};

TEST_F(Completion, OfAnHonestWorkerIsTaken) {
  record_->row_failed[1] = 1;
  record_->text_bytes = 3;
  std::memcpy(record_->text, "row", 3);
  ASSERT_TRUE(Read().ok());
  EXPECT_TRUE(batch_.failure.ok());
  EXPECT_EQ(needed_bytes_, 0u);
  ASSERT_EQ(batch_.outputs.size(), 2u);
  EXPECT_EQ(batch_.outputs[0].datatype, DataType::kFp32);
  EXPECT_EQ(batch_.outputs[0].bytes.data(), lease_);
  EXPECT_EQ(batch_.outputs[0].bytes.size(), 24u);
  EXPECT_EQ(batch_.outputs[1].dims, (Dims{3, 4}));
  EXPECT_EQ(batch_.outputs[1].bytes.data(), lease_ + 64);
  EXPECT_THAT(batch_.row_failed, ElementsAre(0, 1, 0));
  EXPECT_EQ(batch_.row_failure_text, "row");
  EXPECT_EQ(batch_.row_count, 3u);
  EXPECT_EQ(batch_.started_ns, 120);
  EXPECT_EQ(batch_.finished_ns, 150);
}

TEST_F(Completion, ThatFillsTheLeaseToItsLastByteIsTaken) {
  record_->outputs[1] = {static_cast<uint32_t>(DataType::kInt64), 2, {3, 8}, 64, 192};
  EXPECT_TRUE(Read().ok());
}

TEST_F(Completion, WithAnEmptyOutputAtTheLeasesEndIsTaken) {
  record_->outputs[1] = {static_cast<uint32_t>(DataType::kInt64), 2, {3, 0}, 256, 0};
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.outputs[1].bytes.size(), 0u);
}

TEST_F(Completion, IsReadFreshEachTime) {
  record_->row_failed[0] = 1;
  ASSERT_TRUE(Read().ok());
  record_->row_failed[0] = 0;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.outputs.size(), 2u);
  EXPECT_THAT(batch_.row_failed, ElementsAre(0, 0, 0));
}

TEST_F(Completion, OfAFailedModelCarriesItsTextMadePrintable) {
  record_->outcome = BatchOutcome::kFailed;
  record_->text_bytes = 6;
  std::memcpy(record_->text,
              "a\n\xff\x7f"
              "b\0",
              6);
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.failure, absl::InternalError("a   b "));
  EXPECT_TRUE(batch_.outputs.empty());
}

// One answer of a model that is decoupled, whose outputs are FP32[2] and INT64[any].
class DecoupledCompletion : public Completion {
 protected:
  DecoupledCompletion() {
    spec_.max_batch_size = 0;
    spec_.decoupled = true;
    expected_.row_count = record_->row_count = 1;
    record_->outcome = BatchOutcome::kAnswer;
    record_->outputs[0] = {static_cast<uint32_t>(DataType::kFp32), 1, {2}, 0, 8};
    record_->outputs[1] = {static_cast<uint32_t>(DataType::kInt64), 1, {4}, 64, 32};
  }
};

TEST_F(DecoupledCompletion, IsOneOfMany) {
  expected_.answer_index = kMaxAnswers - 1;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.part, AnswerPart::kOneOfMany);
  ASSERT_EQ(batch_.outputs.size(), 2u);
  EXPECT_EQ(batch_.outputs[1].dims, (Dims{4}));
}

TEST_F(DecoupledCompletion, MayBeTheWordThatThereIsNone) {
  record_->outcome = BatchOutcome::kNoAnswer;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.part, AnswerPart::kNoMore);
  EXPECT_TRUE(batch_.outputs.empty());
  EXPECT_TRUE(batch_.failure.ok());
}

TEST_F(DecoupledCompletion, ThatFailedIsTheLast) {
  record_->row_failed[0] = 1;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.part, AnswerPart::kWhole);
  record_->outcome = BatchOutcome::kFailed;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.part, AnswerPart::kWhole);
}

TEST_F(DecoupledCompletion, IsNeverAWholeAnswer) {
  record_->outcome = BatchOutcome::kDone;
  EXPECT_THAT(std::string(Read().message()), HasSubstr("outcome"));
}

TEST_F(DecoupledCompletion, IsBoundedInNumber) {
  expected_.answer_index = kMaxAnswers;
  EXPECT_THAT(std::string(Read().message()), HasSubstr("answers without end"));
  record_->outcome = BatchOutcome::kNoAnswer;
  EXPECT_TRUE(Read().ok());
}

TEST_F(Completion, OfAModelThatIsNotDecoupledIsWhole) {
  for (const BatchOutcome outcome : {BatchOutcome::kAnswer, BatchOutcome::kNoAnswer}) {
    record_->outcome = outcome;
    EXPECT_THAT(std::string(Read().message()), HasSubstr("outcome"));
  }
}

TEST_F(Completion, ATextLongerThanTheRecordIsCut) {
  record_->outcome = BatchOutcome::kFailed;
  std::memset(record_->text, 'x', kErrorTextBytes);
  for (const uint32_t lie : {static_cast<uint32_t>(kErrorTextBytes) + 1, 0xffff'ffffU}) {
    record_->text_bytes = lie;
    ASSERT_TRUE(Read().ok());
    EXPECT_EQ(batch_.failure.message(), std::string(kErrorTextBytes, 'x'));
  }
}

TEST_F(Completion, OfASkippedBatchIsATimeOut) {
  record_->outcome = BatchOutcome::kSkipped;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.failure, absl::DeadlineExceededError("Request timeout expired"));
}

TEST_F(Completion, ThatNeedsALargerLeaseSaysHowLarge) {
  record_->outcome = BatchOutcome::kOutputTooLarge;
  record_->output_bytes_needed = 257;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(needed_bytes_, 257u);
}

TEST_F(Completion, TokensAreClampedToWhatCanBe) {
  record_->computed_tokens = 48;
  record_->padding_tokens = 6;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.computed_tokens, 48u);
  EXPECT_EQ(batch_.padding_tokens, 6u);
  record_->padding_tokens = 49;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.padding_tokens, 48u);
  record_->computed_tokens = std::numeric_limits<uint64_t>::max();
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.computed_tokens, kMaxCountedTokens);
  record_->outcome = BatchOutcome::kFailed;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.computed_tokens, 0u);
  EXPECT_EQ(batch_.padding_tokens, 0u);
}

TEST_F(Completion, TimesAreClampedToWhatCanBe) {
  record_->started_ns = -5;
  record_->finished_ns = 1'000'000;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.started_ns, 100);
  EXPECT_EQ(batch_.finished_ns, 200);
  record_->started_ns = 180;
  record_->finished_ns = 110;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.started_ns, 180);
  EXPECT_EQ(batch_.finished_ns, 180);
  record_->started_ns = std::numeric_limits<int64_t>::max();
  record_->finished_ns = std::numeric_limits<int64_t>::min();
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.started_ns, 200);
  EXPECT_EQ(batch_.finished_ns, 200);
}

// ---- lies ----

struct LieCase {
  const char* name;
  const char* reason;
  std::function<void(CompletionRecord*)> tell;
};

class CompletionLie : public Completion, public testing::WithParamInterface<LieCase> {};

TEST_P(CompletionLie, IsRefused) {
  GetParam().tell(record_.get());
  const absl::Status status = Read();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().reason));
}

constexpr int64_t kHuge = int64_t{1} << 62;

INSTANTIATE_TEST_SUITE_P(
    Each, CompletionLie,
    testing::Values(
        LieCase{"BatchId", "batch id", [](CompletionRecord* r) { r->batch_id = 16; }},
        LieCase{"OutcomeNone", "outcome",
                [](CompletionRecord* r) { r->outcome = BatchOutcome::kInvalid; }},
        LieCase{"OutcomeUnknown", "outcome",
                [](CompletionRecord* r) { r->outcome = static_cast<BatchOutcome>(5); }},
        LieCase{"RowCount", "row count", [](CompletionRecord* r) { r->row_count = 4; }},
        LieCase{"FewerOutputs", "output count", [](CompletionRecord* r) { r->output_count = 1; }},
        LieCase{"MoreOutputs", "output count", [](CompletionRecord* r) { r->output_count = 3; }},
        LieCase{"OutputsBeyondTheRecord", "output count",
                [](CompletionRecord* r) { r->output_count = 0xffff'ffff; }},
        LieCase{"DataType", "datatype",
                [](CompletionRecord* r) {
                  r->outputs[0].datatype = static_cast<uint32_t>(DataType::kInt32);
                }},
        LieCase{"DataTypeNone", "datatype",
                [](CompletionRecord* r) { r->outputs[0].datatype = 0xffff; }},
        LieCase{"RankBeyondTheRecord", "rank",
                [](CompletionRecord* r) { r->outputs[0].rank = kMaxRank + 2; }},
        LieCase{"RankHuge", "rank", [](CompletionRecord* r) { r->outputs[0].rank = 0xffff'ffff; }},
        LieCase{"RankZero", "batch dim", [](CompletionRecord* r) { r->outputs[0].rank = 0; }},
        LieCase{"RankTooSmall", "shape", [](CompletionRecord* r) { r->outputs[0].rank = 1; }},
        LieCase{"RankTooLarge", "shape", [](CompletionRecord* r) { r->outputs[0].rank = 3; }},
        LieCase{"BatchDim", "batch dim", [](CompletionRecord* r) { r->outputs[0].dims[0] = 2; }},
        LieCase{"FixedDim", "shape", [](CompletionRecord* r) { r->outputs[0].dims[1] = 3; }},
        LieCase{"NegativeDim", "shape", [](CompletionRecord* r) { r->outputs[1].dims[1] = -1; }},
        LieCase{"OverflowingDim", "byte count",
                [](CompletionRecord* r) { r->outputs[1].dims[1] = kHuge; }},
        LieCase{"Bytes", "byte count", [](CompletionRecord* r) { r->outputs[1].bytes = 95; }},
        LieCase{"OffsetNotAligned", "place", [](CompletionRecord* r) { r->outputs[0].offset = 8; }},
        LieCase{"OffsetBeyondTheLease", "place",
                [](CompletionRecord* r) { r->outputs[0].offset = 320; }},
        LieCase{"OffsetHuge", "place",
                [](CompletionRecord* r) { r->outputs[0].offset = UINT64_MAX - 63; }},
        LieCase{"EndBeyondTheLease", "place",
                [](CompletionRecord* r) { r->outputs[1].offset = 192; }},
        LieCase{"LargerThanTheLease", "place",
                [](CompletionRecord* r) {
                  r->outputs[1].dims[1] = 32;
                  r->outputs[1].bytes = 768;
                }},
        LieCase{"NeedsWhatItHas", "bytes needed",
                [](CompletionRecord* r) {
                  r->outcome = BatchOutcome::kOutputTooLarge;
                  r->output_bytes_needed = 256;
                }}),
    [](const auto& tested) { return tested.param.name; });

// Arbitrary bytes: whatever is accepted lies in the lease.
TEST_F(Completion, OfRandomBytesNeverLeavesTheLease) {
  std::mt19937_64 random(7);  // a fixed seed: the same lies in every run
  const CompletionRecord honest = *record_;
  auto* bytes = reinterpret_cast<unsigned char*>(record_.get());
  for (int round = 0; round < 20'000; ++round) {
    std::memcpy(static_cast<void*>(record_.get()), &honest, sizeof(honest));
    const uint64_t changes = random() % 4 + 1;
    for (uint64_t i = 0; i < changes; ++i) {
      bytes[random() % (offsetof(CompletionRecord, outputs) + 2 * sizeof(OutputRecord))] =
          static_cast<unsigned char>(random());
    }
    if (!Read().ok()) continue;
    for (const BatchOutput& output : batch_.outputs) {
      ASSERT_GE(output.bytes.data(), lease_);
      ASSERT_LE(output.bytes.data() + output.bytes.size(), lease_ + sizeof(lease_));
    }
    ASSERT_GE(batch_.started_ns, expected_.batched_ns);
    ASSERT_LE(batch_.finished_ns, expected_.now_ns);
  }
}

TEST_F(Completion, OfAModelWithoutBatchesHasNoBatchDim) {
  spec_.max_batch_size = 0;
  spec_.outputs = {{"A", DataType::kFp32, {2}}};
  expected_.row_count = record_->row_count = 1;
  record_->output_count = 1;
  record_->outputs[0] = {static_cast<uint32_t>(DataType::kFp32), 1, {2}, 0, 8};
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.outputs[0].dims, (Dims{2}));
}

// ---- strings ----

// Output B is of two strings a row; its elements lie at the lease's offset 64.
class StringCompletion : public Completion {
 protected:
  StringCompletion() {
    spec_.outputs[1] = {"B", DataType::kBytes, {2}};
    record_->outputs[1] = {static_cast<uint32_t>(DataType::kBytes), 2, {3, 2}, 64, 0};
    for (uint32_t i = 0; i < 6; ++i) Append(std::string(i, 'a'));
  }

  void Append(const std::string& text) {
    const auto length = static_cast<uint32_t>(text.size());
    uint64_t& bytes = record_->outputs[1].bytes;
    std::memcpy(lease_ + 64 + bytes, &length, sizeof(length));
    std::memcpy(lease_ + 64 + bytes + sizeof(length), text.data(), text.size());
    bytes += sizeof(length) + text.size();
  }

  void SetLength(uint64_t at, uint32_t length) {
    std::memcpy(lease_ + 64 + at, &length, sizeof(length));
  }
};

TEST_F(StringCompletion, SaysWhereEachRowEnds) {
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(batch_.outputs[1].row_ends, ElementsAre(9, 22, 39));
  EXPECT_EQ(batch_.outputs[1].bytes.size(), 39u);
  EXPECT_TRUE(batch_.outputs[0].row_ends.empty());
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(batch_.outputs[1].row_ends.size(), 3u) << "read over the one before";
}

// What was validated is not looked at again: the worker may write it at any time.
TEST_F(StringCompletion, KeepsTheRowsEndsWhateverIsWrittenLater) {
  ASSERT_TRUE(Read().ok());
  SetLength(0, UINT32_MAX);
  EXPECT_THAT(batch_.outputs[1].row_ends, ElementsAre(9, 22, 39));
}

TEST_F(StringCompletion, WithFewerElementsIsALie) {
  record_->outputs[1].bytes -= 4 + 5;
  EXPECT_FALSE(Read().ok());
}

TEST_F(StringCompletion, WithMoreElementsIsALie) {
  Append("");
  EXPECT_FALSE(Read().ok());
}

TEST_F(StringCompletion, WithALengthBeyondItsBytesIsALie) {
  for (const uint32_t length : {1U, 31U, 0xffffU, UINT32_MAX}) {
    SetLength(0, length);
    EXPECT_FALSE(Read().ok()) << length;
  }
}

TEST_F(StringCompletion, OfMoreElementsThanBytesIsALieSoonFound) {
  spec_.outputs[1].dims = {-1};
  record_->outputs[1].dims[1] = int64_t{1} << 58;
  EXPECT_FALSE(Read().ok());
  record_->outputs[1].dims[1] = INT64_MAX;
  EXPECT_FALSE(Read().ok());
}

TEST_F(StringCompletion, OfNoElementsHasNoBytes) {
  spec_.outputs[1].dims = {-1};
  record_->outputs[1].dims[1] = 0;
  record_->outputs[1].bytes = 0;
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(batch_.outputs[1].row_ends, ElementsAre(0, 0, 0));
  record_->outputs[1].bytes = 1;
  EXPECT_FALSE(Read().ok());
}

TEST_F(StringCompletion, OfRandomBytesStaysInItsLease) {
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    for (char& byte : lease_) byte = static_cast<char>(random() % 4 == 0 ? random() % 8 : 0);
    record_->outputs[1].bytes = random() % 192;
    if (!Read().ok()) continue;
    EXPECT_EQ(batch_.outputs[1].row_ends.back(), record_->outputs[1].bytes);
  }
}

}  // namespace
}  // namespace mpsd

#include "worker/model/encoder/batch/token_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

EncoderConfig SmallConfig() {
  EncoderConfig config;
  config.vocabulary_size = 10;
  config.position_count = 6;
  config.token_type_count = 2;
  return config;
}

EncoderConfig KinOfRoberta() {
  EncoderConfig config = SmallConfig();
  config.pad_token = 1;
  config.first_position = 2;
  return config;
}

class TokenBatchTest : public testing::Test {
 protected:
  TokenBatch Pack(const std::vector<int64_t>& ids, const std::vector<int64_t>& mask, int64_t rows,
                  TokenLayout layout = TokenLayout::kPacked) const {
    const auto length = static_cast<int64_t>(ids.size()) / rows;
    return PackTokens(config_, {rows, length, ids.data(), mask.data(), nullptr}, layout);
  }

  EncoderConfig config_ = SmallConfig();
};

TEST_F(TokenBatchTest, LeavesPaddingOutAndPutsEqualLengthsTogether) {
  const TokenBatch batch =
      Pack({7, 8, 9, 5, 6, 0, 3, 4, 2}, {1, 1, 1, 1, 1, 0, 1, 1, 1}, /*rows=*/3);
  EXPECT_THAT(batch.ids, ElementsAre(5, 6, 7, 8, 9, 3, 4, 2));
  EXPECT_THAT(batch.positions, ElementsAre(0, 1, 0, 1, 2, 0, 1, 2));
  ASSERT_EQ(batch.runs.size(), 2u);
  EXPECT_EQ(batch.runs[0].length, 2);
  EXPECT_EQ(batch.runs[1].first, 2);
  EXPECT_EQ(batch.runs[1].rows, 2);
  EXPECT_EQ(batch.rows[0].first, 2);
  EXPECT_EQ(batch.rows[1].last, 1);
  EXPECT_EQ(batch.rows[2].last, 7);
  EXPECT_THAT(batch.kept, IsEmpty());
}

TEST_F(TokenBatchTest, KeepsTheColumnsOfTokensBehindAHole) {
  const TokenBatch batch = Pack({7, 8, 9, 5}, {0, 1, 0, 1}, /*rows=*/1);
  EXPECT_THAT(batch.ids, ElementsAre(8, 5));
  EXPECT_THAT(batch.positions, ElementsAre(1, 3));
  EXPECT_EQ(batch.rows[0].last, 1);
}

TEST_F(TokenBatchTest, ARowOfNoTokensHoldsOne) {
  const TokenBatch batch = Pack({7, 8, 9, 5}, {0, 0, 1, 1}, /*rows=*/2);
  EXPECT_THAT(batch.ids, ElementsAre(0, 9, 5));
  EXPECT_TRUE(batch.rows[0].is_empty);
  EXPECT_FALSE(batch.rows[1].is_empty);
  EXPECT_THAT(batch.failed_rows, IsEmpty());
}

TEST_F(TokenBatchTest, APaddedLayoutKeepsAllThoseThatCountFirst) {
  const TokenBatch batch =
      Pack({7, 8, 9, 5, 3, 3}, {0, 1, 1, 0, 0, 0}, /*rows=*/2, TokenLayout::kPadded);
  EXPECT_THAT(batch.ids, ElementsAre(8, 9, 0, 0, 0, 0));
  EXPECT_THAT(batch.positions, ElementsAre(1, 2, 0, 0, 0, 0));
  EXPECT_THAT(batch.kept, ElementsAre(1, 1, 0, 1, 0, 0));
  EXPECT_EQ(batch.rows[0].first, 0);
  EXPECT_EQ(batch.rows[0].last, 1);
  ASSERT_EQ(batch.runs.size(), 1u);
  EXPECT_EQ(batch.runs[0].rows, 2);
  EXPECT_EQ(batch.runs[0].length, 3);
}

TEST_F(TokenBatchTest, RobertasKinCountTheTokensThatAreNoPad) {
  config_ = KinOfRoberta();
  const TokenBatch batch = Pack({0, 5, 1, 6, 1}, {1, 1, 1, 1, 0}, /*rows=*/1);
  EXPECT_THAT(batch.positions, ElementsAre(2, 3, 1, 4));
}

TEST_F(TokenBatchTest, ATokenOutsideOfTheWordsFailsItsRow) {
  const TokenBatch batch = Pack({7, 10, 9, 5, 6, -1}, {1, 1, 1, 1, 1, 0}, /*rows=*/3);
  ASSERT_EQ(batch.failed_rows.size(), 1u);
  EXPECT_EQ(batch.failed_rows[0].first, 0u);
  EXPECT_EQ(batch.failed_rows[0].second, "the token id 10 is outside of the model's 10 words");
  EXPECT_TRUE(batch.rows[0].is_empty);
  EXPECT_THAT(batch.ids, ElementsAre(0, 6, 9, 5));
}

TEST_F(TokenBatchTest, ARowLongerThanThePositionsFails) {
  const std::vector<int64_t> ids(7, 3);
  const TokenBatch batch = Pack(ids, ids, /*rows=*/1);
  ASSERT_EQ(batch.failed_rows.size(), 1u);
  EXPECT_EQ(batch.failed_rows[0].second, "the row has more than the model's 6 tokens");
  config_ = KinOfRoberta();
  EXPECT_THAT(Pack({3, 3, 3, 3}, {1, 1, 1, 1}, 1).failed_rows, IsEmpty());
  EXPECT_EQ(Pack({3, 3, 3, 3, 3}, {1, 1, 1, 1, 1}, 1).failed_rows.size(), 1u);
}

TEST_F(TokenBatchTest, AHoleFailsWhereDistancesCount) {
  config_ = KinOfRoberta();
  config_.distance_buckets = 32;
  const TokenBatch batch = Pack({3, 1, 3}, {1, 0, 1}, 1);  // the token left out is no word
  ASSERT_EQ(batch.failed_rows.size(), 1u);
  EXPECT_EQ(batch.failed_rows[0].second, "attention_mask has a hole in the row");
  EXPECT_THAT(Pack({1, 3, 3}, {0, 1, 1}, 1).failed_rows, IsEmpty());
  config_.distance_buckets = 0;
  config_.rotary.reach = 8;
  EXPECT_EQ(Pack({3, 1, 3}, {1, 0, 1}, 1).failed_rows.size(), 1u);
}

TEST_F(TokenBatchTest, AWordLeftOutBeforeOthersFailsWhereWordsAreCounted) {
  config_ = KinOfRoberta();
  for (const std::vector<int64_t>& mask : {std::vector<int64_t>{1, 0, 1}, {0, 1, 1}}) {
    const TokenBatch batch = Pack({3, 3, 3}, mask, 1);
    ASSERT_EQ(batch.failed_rows.size(), 1u);
    EXPECT_EQ(batch.failed_rows[0].second, "attention_mask leaves out a word before others");
  }
  EXPECT_THAT(Pack({3, 3, 3}, {1, 1, 0}, 1).failed_rows, IsEmpty());
  EXPECT_THAT(Pack({3, 1, 3}, {1, 0, 1}, 1).positions, ElementsAre(2, 3));
}

TEST_F(TokenBatchTest, TypesGoWithTheirTokens) {
  const std::vector<int64_t> ids = {7, 8, 9, 5};
  const std::vector<int64_t> mask = {1, 1, 1, 0};
  const std::vector<int64_t> types = {0, 1, 2, 0};
  const TokenBatch batch =
      PackTokens(config_, {2, 2, ids.data(), mask.data(), types.data()}, TokenLayout::kPacked);
  ASSERT_EQ(batch.failed_rows.size(), 1u);
  EXPECT_EQ(batch.failed_rows[0].second, "the token type 2 is outside of the model's 2");
  EXPECT_THAT(batch.types, ElementsAre(0, 0, 1));
}

}  // namespace
}  // namespace mpsd

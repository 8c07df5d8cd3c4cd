#include "worker/model/encoder/batch/batch_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;

// Rows of 3, 1 and 3 tokens; their types are those of `types`, if it has any.
TokenBatch ThreeRowsOfTypes(const std::vector<int64_t>& types) {
  EncoderConfig config;
  config.vocabulary_size = 10;
  config.position_count = 3;
  config.token_type_count = 2;
  const std::vector<int64_t> ids = {7, 8, 9, 5, 0, 0, 3, 4, 2};
  const std::vector<int64_t> mask = {1, 1, 1, 1, 0, 0, 1, 1, 1};
  return PackTokens(config, {3, 3, ids.data(), mask.data(), types.empty() ? nullptr : types.data()},
                    TokenLayout::kPacked);
}

std::vector<int64_t> Part(const std::vector<int64_t>& numbers, int64_t first, int64_t count) {
  return {numbers.begin() + first, numbers.begin() + first + count};
}

TEST(BatchNumbers, LieOneBehindTheOther) {
  const BatchRoom room{7, 3};
  const std::vector<int64_t> numbers =
      NumbersOf(ThreeRowsOfTypes({0, 0, 1, 1, 0, 0, 0, 1, 0}), room);
  ASSERT_EQ(static_cast<int64_t>(numbers.size()), room.size());
  EXPECT_THAT(Part(numbers, 0, 7), ElementsAre(5, 7, 8, 9, 3, 4, 2));
  EXPECT_THAT(Part(numbers, 7, 7), ElementsAre(0, 0, 1, 2, 0, 1, 2));
  EXPECT_THAT(Part(numbers, 14, 7), ElementsAre(1, 0, 0, 1, 0, 1, 0));
  EXPECT_THAT(Part(numbers, 21, 3), ElementsAre(1, 0, 4)) << "first tokens";
  EXPECT_THAT(Part(numbers, 24, 3), ElementsAre(3, 0, 6)) << "last tokens";
  EXPECT_THAT(Part(numbers, 27, 3), ElementsAre(1, 0, 2)) << "places";
  EXPECT_THAT(Part(numbers, 30, 4), ElementsAre(0, 1, 4, 7)) << "starts";
}

TEST(BatchNumbers, WhatTheRoomHasBeyondThemBelongsToNoRow) {
  const BatchRoom room{9, 5};
  const std::vector<int64_t> numbers = NumbersOf(ThreeRowsOfTypes({}), room);
  ASSERT_EQ(static_cast<int64_t>(numbers.size()), room.size());
  EXPECT_THAT(Part(numbers, 7, 2), ElementsAre(0, 0)) << "ids";
  EXPECT_THAT(Part(numbers, 18, 9), testing::Each(0)) << "types";
  EXPECT_THAT(Part(numbers, 42, 6), ElementsAre(0, 1, 4, 7, 7, 7)) << "starts";
}

TEST(BatchNumbers, TheRoomIsKnownByItsSizeAndRows) {
  const BatchRoom room{11, 4};
  EXPECT_EQ(BatchRoom::Of(room.size(), 4).tokens, 11);
  const TokenBatch batch = ThreeRowsOfTypes({});
  EXPECT_TRUE((BatchRoom{7, 3}).Holds(batch));
  EXPECT_FALSE((BatchRoom{6, 3}).Holds(batch));
  EXPECT_FALSE((BatchRoom{7, 2}).Holds(batch));
}

}  // namespace
}  // namespace mpsd

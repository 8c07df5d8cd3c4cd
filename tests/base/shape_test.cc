#include "proto/base/shape.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace mpsd {
namespace {

constexpr uint64_t kMaxBytes = 1ULL << 62;

TEST(ElementCount, MultipliesTheDims) {
  EXPECT_EQ(ElementCount({}), 1U);
  EXPECT_EQ(ElementCount({7}), 7U);
  EXPECT_EQ(ElementCount({2, 3, 4}), 24U);
}

TEST(ElementCount, IsZeroWithAZeroDim) {
  EXPECT_EQ(ElementCount({0}), 0U);
  EXPECT_EQ(ElementCount({5, 0, 3}), 0U);
}

TEST(ElementCount, RefusesNegativeDims) {
  EXPECT_EQ(ElementCount({-1}), std::nullopt);
  EXPECT_EQ(ElementCount({2, -1, 4}), std::nullopt);
  EXPECT_EQ(ElementCount({INT64_MIN}), std::nullopt);
  EXPECT_EQ(ElementCount({0, -1}), std::nullopt);
}

TEST(ElementCount, ReachesItsBoundAndNotBeyond) {
  EXPECT_EQ(ElementCount({1LL << 31, 1LL << 31}), kMaxBytes);
  EXPECT_EQ(ElementCount({1LL << 31, 1LL << 32}), std::nullopt);
  EXPECT_EQ(ElementCount({static_cast<int64_t>(kMaxBytes) + 1}), std::nullopt);
}

// The product of these wraps around to a small number.
TEST(ElementCount, RefusesProductsThatOverflow) {
  EXPECT_EQ(ElementCount({1LL << 32, 1LL << 32}), std::nullopt);
  EXPECT_EQ(ElementCount({1LL << 32, (1LL << 32) + 1, 2}), std::nullopt);
  EXPECT_EQ(ElementCount({INT64_MAX, INT64_MAX}), std::nullopt);
}

// A zero must not hide dims that no byte count could be made of.
TEST(ElementCount, RefusesOverflowBesideAZero) {
  EXPECT_EQ(ElementCount({INT64_MAX, 0}), std::nullopt);
  EXPECT_EQ(ElementCount({0, 1LL << 32, 1LL << 32}), std::nullopt);
}

TEST(TensorBytes, CountsTheElementsBytes) {
  EXPECT_EQ(TensorBytes(DataType::kFp32, {2, 3}), 24U);
  EXPECT_EQ(TensorBytes(DataType::kBool, {5}), 5U);
  EXPECT_EQ(TensorBytes(DataType::kInt64, {}), 8U);
  EXPECT_EQ(TensorBytes(DataType::kFp16, {0, 9}), 0U);
}

TEST(TensorBytes, HasNoAnswerForStringsAndInvalidTypes) {
  EXPECT_EQ(TensorBytes(DataType::kBytes, {2}), std::nullopt);
  EXPECT_EQ(TensorBytes(DataType::kInvalid, {2}), std::nullopt);
  EXPECT_EQ(TensorBytes(static_cast<DataType>(99), {2}), std::nullopt);
}

TEST(TensorBytes, RefusesNegativeDimsAndOverflow) {
  EXPECT_EQ(TensorBytes(DataType::kFp32, {-1, 4}), std::nullopt);
  EXPECT_EQ(TensorBytes(DataType::kFp32, {1LL << 60}), kMaxBytes);
  EXPECT_EQ(TensorBytes(DataType::kFp32, {(1LL << 60) + 1}), std::nullopt);
  EXPECT_EQ(TensorBytes(DataType::kFp64, {1LL << 62}), std::nullopt);
}

TEST(AlignUp, RoundsUpToTheAlignment) {
  EXPECT_EQ(AlignUp(0, 64), 0U);
  EXPECT_EQ(AlignUp(1, 64), 64U);
  EXPECT_EQ(AlignUp(64, 64), 64U);
  EXPECT_EQ(AlignUp(65, 64), 128U);
}

TEST(AlignUp, RefusesOverflow) {
  EXPECT_EQ(AlignUp(UINT64_MAX - 63, 64), UINT64_MAX - 63);
  EXPECT_EQ(AlignUp(UINT64_MAX - 62, 64), std::nullopt);
}

TEST(ShapeText, IsABracketedList) {
  EXPECT_EQ(ShapeText({-1, 16}), "[-1,16]");
  EXPECT_EQ(ShapeText({}), "[]");
}

TEST(ShapeFits, MinusOneStandsForAnyLength) {
  EXPECT_TRUE(ShapeFits({}, {}));
  EXPECT_TRUE(ShapeFits({-1, 4}, {7, 4}));
  EXPECT_TRUE(ShapeFits({-1}, {0}));
  EXPECT_FALSE(ShapeFits({-1}, {-1}));
  EXPECT_FALSE(ShapeFits({-1, 4}, {7, 5}));
  EXPECT_FALSE(ShapeFits({-1, 4}, {7}));
  EXPECT_FALSE(ShapeFits({4}, {4, 1}));
}

}  // namespace
}  // namespace mpsd

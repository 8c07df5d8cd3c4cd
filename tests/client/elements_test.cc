#include "client/format/elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mpsd::cli {
namespace {

TEST(Elements, HalfsHaveTheirValues) {
  EXPECT_EQ(HalfToDouble(0x3C00), 1);
  EXPECT_EQ(HalfToDouble(0xC100), -2.5);
  EXPECT_EQ(HalfToDouble(0x7BFF), 65504);
  EXPECT_EQ(HalfToDouble(0x0001), std::ldexp(1, -24));
  EXPECT_TRUE(std::isinf(HalfToDouble(0xFC00)));
  EXPECT_TRUE(std::isnan(HalfToDouble(0x7E00)));
}

TEST(Elements, BFloatsHaveTheirValues) {
  EXPECT_EQ(BFloatToDouble(0x3F80), 1);
  EXPECT_EQ(BFloatToDouble(0xC040), -3);
}

TEST(Elements, NumbersOfSignedAndUnsignedBytesDiffer) {
  EXPECT_EQ(Numbers({"y", DataType::kInt8, {1}, "\xFF"}), std::vector<double>{-1});
  EXPECT_EQ(Numbers({"y", DataType::kUint8, {1}, "\xFF"}), std::vector<double>{255});
}

TEST(Elements, RandomArraysKeepTheirRange) {
  std::mt19937_64 random(7);
  for (uint32_t i = 1; i < kDataTypeCount; ++i) {
    const auto datatype = static_cast<DataType>(i);
    if (datatype == DataType::kBytes) continue;
    const auto array = RandomArray(datatype, {50, 20}, &random);
    ASSERT_TRUE(array.ok()) << array.status();
    const std::vector<double> values = Numbers({"", datatype, array->shape, array->bytes});
    ASSERT_EQ(values.size(), 1000U);
    const bool is_float = datatype == DataType::kFp16 || datatype == DataType::kBf16 ||
                          datatype == DataType::kFp32 || datatype == DataType::kFp64;
    double high = 0;
    for (const double value : values) {
      ASSERT_GE(value, 0);
      high = std::max(high, value);
    }
    EXPECT_LT(high, is_float ? 1 : 100) << DataTypeName(datatype);
    EXPECT_GT(high, is_float ? 0.9 : 0) << DataTypeName(datatype);
  }
}

TEST(Elements, RandomArraysAreTheSameForOneSeed) {
  std::mt19937_64 one(7);
  std::mt19937_64 other(7);
  EXPECT_EQ(RandomArray(DataType::kFp32, {4}, &one)->bytes,
            RandomArray(DataType::kFp32, {4}, &other)->bytes);
}

TEST(Elements, RandomArraysOfBytesAndOfTooManyElementsAreRefused) {
  std::mt19937_64 random(7);
  EXPECT_FALSE(RandomArray(DataType::kBytes, {1}, &random).ok());
  EXPECT_FALSE(RandomArray(DataType::kFp32, {1LL << 40}, &random).ok());
}

TEST(DoubleToHalf, IsTheNearestHalf) {
  for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    ASSERT_EQ(DoubleToHalf(HalfToDouble(half)), half);
    ASSERT_EQ(DoubleToHalf(-HalfToDouble(half)), half | 0x8000);
  }
  EXPECT_EQ(DoubleToHalf(1 + 0x1p-11), 0x3C00);      // the even one, where two are equally near
  EXPECT_EQ(DoubleToHalf(1 + 3 * 0x1p-11), 0x3C02);  // likewise
  EXPECT_EQ(DoubleToHalf(2 - 0x1p-12), 0x4000);      // carries into the exponent
  EXPECT_EQ(DoubleToHalf(65519), 0x7BFF);
  EXPECT_EQ(DoubleToHalf(65520), 0x7C00);
  EXPECT_EQ(DoubleToHalf(-INFINITY), 0xFC00);
  EXPECT_TRUE(std::isnan(HalfToDouble(DoubleToHalf(NAN))));
}

TEST(FloatToBFloat, IsTheNearestBFloat) {
  EXPECT_EQ(FloatToBFloat(1.0F), 0x3F80);
  EXPECT_EQ(FloatToBFloat(1 + 0x1p-8F), 0x3F80);
  EXPECT_EQ(FloatToBFloat(1 + 3 * 0x1p-8F), 0x3F82);
  EXPECT_EQ(FloatToBFloat(-INFINITY), 0xFF80);
  EXPECT_TRUE(std::isnan(BFloatToDouble(FloatToBFloat(NAN))));
}

}  // namespace
}  // namespace mpsd::cli

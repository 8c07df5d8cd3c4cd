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

}  // namespace
}  // namespace mpsd::cli

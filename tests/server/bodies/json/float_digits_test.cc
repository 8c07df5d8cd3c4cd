#include "server/bodies/json/float_digits.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <string>

namespace mpsd {
namespace {

constexpr float kLeast = 1e-3F;
constexpr float kBeyond = 0x1p23F;

std::string ByStandard(float number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

std::string ByUs(float number) {
  char text[kFractionBytes];
  return {text, WriteFraction(number, text)};
}

TEST(FloatDigits, TakesFractionsOfEverydaySize) {
  EXPECT_TRUE(IsPlainFraction(0.25F));
  EXPECT_TRUE(IsPlainFraction(-0.25F));
  EXPECT_TRUE(IsPlainFraction(kLeast));
  EXPECT_FALSE(IsPlainFraction(std::nextafter(kLeast, 0.F)));
  EXPECT_TRUE(IsPlainFraction(std::nextafter(kBeyond, 0.F)));
  EXPECT_FALSE(IsPlainFraction(kBeyond));
  EXPECT_FALSE(IsPlainFraction(0.F));
  EXPECT_FALSE(IsPlainFraction(-3.F));
  EXPECT_FALSE(IsPlainFraction(INFINITY));
  EXPECT_FALSE(IsPlainFraction(NAN));
}

TEST(FloatDigits, WritesAsPeopleDo) {
  EXPECT_EQ(ByUs(0.1F), "0.1");
  EXPECT_EQ(ByUs(kLeast), "0.001");
  EXPECT_EQ(ByUs(-0.5F), "-0.5");
  EXPECT_EQ(ByUs(3.14159F), "3.14159");
  EXPECT_EQ(ByUs(8388607.5F), "8388607.5");
  EXPECT_EQ(ByUs(-1048575.9F), "-1048575.9");
}

TEST(FloatDigits, WritesPowersOfTwoWhoseNeighboursAreUnevenlyFar) {
  for (float number = 0x1p-9F; number < 1; number *= 2) {
    EXPECT_EQ(ByUs(number), ByStandard(number));
    EXPECT_EQ(ByUs(std::nextafter(number, 0.F)), ByStandard(std::nextafter(number, 0.F)));
    EXPECT_EQ(ByUs(std::nextafter(number, 1.F)), ByStandard(std::nextafter(number, 1.F)));
  }
}

// A step of 1 compares all 268,234,130 of them, in half a minute.
TEST(FloatDigits, AgreesWithTheStandardLibrary) {
  constexpr uint32_t kStep = 1009;
  uint32_t compared = 0;
  const auto end = std::bit_cast<uint32_t>(kBeyond);
  for (auto bits = std::bit_cast<uint32_t>(kLeast); bits < end; bits += kStep) {
    const auto number = std::bit_cast<float>(bits);
    if (!IsPlainFraction(number)) continue;
    ASSERT_EQ(ByUs(number), ByStandard(number)) << bits;
    ASSERT_EQ(ByUs(-number), ByStandard(-number)) << bits;
    ++compared;
  }
  EXPECT_GT(compared, 250000);
}

}  // namespace
}  // namespace mpsd

#include "proto/encoding/varint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace mpsd {
namespace {

std::string Written(uint64_t value) {
  std::string bytes;
  PutVarint(value, &bytes);
  return bytes;
}

// How many bytes were taken; 0 when the varint did not end.
size_t Take(const std::string& bytes, Varint* varint) {
  for (size_t i = 0; i < bytes.size() && !varint->too_long(); ++i) {
    if (varint->Take(static_cast<uint8_t>(bytes[i]))) return i + 1;
  }
  return 0;
}

TEST(Varint, IsWrittenSevenBitsAByte) {
  EXPECT_EQ(Written(0), std::string(1, '\0'));
  EXPECT_EQ(Written(127), "\x7f");
  EXPECT_EQ(Written(128), "\x80\x01");
  EXPECT_EQ(Written(300), "\xac\x02");
  EXPECT_EQ(Written(UINT64_MAX), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Varint, IsReadAsItWasWritten) {
  for (uint32_t shift = 0; shift < 64; ++shift) {
    for (const uint64_t value :
         {uint64_t{1} << shift, (uint64_t{1} << shift) - 1, UINT64_MAX >> shift}) {
      Varint varint;
      EXPECT_EQ(Take(Written(value), &varint), VarintBytes(value));
      EXPECT_EQ(varint.value(), value);
    }
  }
}

TEST(Varint, MayBeLongerThanNeeded) {
  Varint varint;
  EXPECT_EQ(Take(std::string("\x81\x80\x80\0", 4), &varint), 4U);
  EXPECT_EQ(varint.value(), 1U);
}

TEST(Varint, HasTenBytesAtMost) {
  Varint ten;
  EXPECT_EQ(Take(std::string(9, '\x80') + '\x7f', &ten), 10U);
  EXPECT_EQ(ten.value(), 1ULL << 63) << "what is beyond 64 bits is dropped";
  Varint eleven;
  EXPECT_EQ(Take(std::string(10, '\x80') + '\x01', &eleven), 0U);
  EXPECT_TRUE(eleven.too_long());
}

TEST(Varint, DoesNotEndBeforeItsLastByte) {
  Varint varint;
  EXPECT_EQ(Take("\xff\xff", &varint), 0U);
  EXPECT_FALSE(varint.too_long());
}

}  // namespace
}  // namespace mpsd

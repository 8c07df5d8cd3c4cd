#include "proto/encoding/protobuf_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

TEST(ProtobufWriter, ANumberStandsBehindItsKey) {
  std::string out;
  PutNumber(1, 150, &out);
  EXPECT_EQ(out, "\x08\x96\x01");
  out.clear();
  PutNumber(16, 0, &out);
  EXPECT_EQ(out, std::string("\x80\x01\0", 3)) << "a field above 15 has a longer key";
}

TEST(ProtobufWriter, ATextStandsBehindItsKeyAndLength) {
  std::string out = "x";
  PutText(2, "testing", &out);
  EXPECT_EQ(out, "x\x12\x07testing");
}

TEST(ProtobufWriter, AnEmptyTextIsNotWritten) {
  std::string out;
  PutText(2, "", &out);
  EXPECT_EQ(out, "");
}

TEST(ProtobufWriter, TellsTheSizeBeforeItWrites) {
  for (const size_t bytes : {0, 1, 127, 128, 16383, 16384}) {
    std::string out;
    PutText(15, std::string(bytes, 'x'), &out);
    EXPECT_EQ(TextBytes(std::string(bytes, 'x')), out.size()) << bytes;
  }
}

TEST(ProtobufWriter, KeysHoldFieldAndType) {
  EXPECT_EQ(FieldKey(7, WireType::kLengthDelimited), 0x3AU);
  EXPECT_EQ(FieldKey((1U << 29) - 1, WireType::kFixed32), 0xFFFFFFFDU);
}

}  // namespace
}  // namespace mpsd

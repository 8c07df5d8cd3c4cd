#include <gtest/gtest.h>

#include <string>

#include "server/compose/parts/request_part.h"

namespace mpsd {
namespace {

std::string Text(const Payload& payload) {
  std::string text;
  for (const absl::string_view piece : payload.pieces) text += std::string(piece);
  EXPECT_EQ(text.size(), payload.bytes);
  return text;
}

RequestInput Input(DataType datatype, Dims dims, const Payload* payload) {
  RequestInput input;
  input.datatype = datatype;
  input.dims = std::move(dims);
  input.payload = payload;
  return input;
}

TEST(InputCutter, RowsOfEqualLengthMaySpanPieces) {
  Payload payload;
  for (const char* piece : {"aab", "bccd", "dee"}) payload.Append(piece);
  InputCutter cutter(Input(DataType::kUint8, {2}, &payload), 5);
  EXPECT_EQ(Text(cutter.Take(2)), "aabb");
  const Payload next = cutter.Take(2);
  EXPECT_EQ(Text(next), "ccdd");
  EXPECT_EQ(next.pieces.size(), 2u) << "views of the pieces";
  EXPECT_EQ(next.pieces[0].data(), payload.pieces[1].data() + 1);
  EXPECT_EQ(Text(cutter.Take(1)), "ee");
}

TEST(InputCutter, RowsOfStringsAreAsLongAsTheirElements) {
  const std::string first("\3\0\0\0abc\0\0\0\0\1\0", 13);
  const std::string second("\0\0x\2\0\0\0yz\1\0\0\0w\0\0\0\0", 18);
  Payload payload;
  payload.Append(first);
  payload.Append(second);
  InputCutter cutter(Input(DataType::kBytes, {2}, &payload), 3);
  EXPECT_EQ(Text(cutter.Take(1)), std::string("\3\0\0\0abc\0\0\0\0", 11));
  EXPECT_EQ(Text(cutter.Take(2)), std::string("\1\0\0\0x\2\0\0\0yz\1\0\0\0w\0\0\0\0", 20));
}

TEST(InputCutter, AnInputThatIsLeftOutHasRowsWithoutBytes) {
  InputCutter cutter(RequestInput(), 9);
  EXPECT_EQ(cutter.Take(4).bytes, 0u);
  EXPECT_EQ(cutter.Take(5).bytes, 0u);
}

TEST(InputCutter, RowsMayBeEmpty) {
  const Payload payload;
  InputCutter cutter(Input(DataType::kFp32, {0}, &payload), 3);
  EXPECT_EQ(cutter.Take(2).bytes, 0u);
  InputCutter strings(Input(DataType::kBytes, {0}, &payload), 3);
  EXPECT_EQ(strings.Take(3).bytes, 0u);
}

}  // namespace
}  // namespace mpsd

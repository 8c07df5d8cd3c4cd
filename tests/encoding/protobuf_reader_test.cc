#include "proto/encoding/protobuf_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mpsd {
namespace {

std::string BytesOf(std::initializer_list<uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

// The numbers of the fields, or -1 at the end where the message is malformed.
std::vector<int> Walk(absl::string_view message) {
  std::vector<int> fields;
  ProtobufReader reader(message);
  while (reader.Next()) fields.push_back(static_cast<int>(reader.field()));
  if (reader.malformed()) fields.push_back(-1);
  EXPECT_FALSE(reader.Next()) << "the end is the end";
  return fields;
}

using Fields = std::vector<int>;

TEST(ProtobufReader, ReadsWhatIsWritten) {
  std::string message;
  PutNumber(1, 300, &message);
  PutText(20, "text", &message);
  ProtobufReader reader(message);
  ASSERT_TRUE(reader.Next());
  EXPECT_TRUE(reader.Is(1, WireType::kVarint));
  EXPECT_EQ(reader.number(), 300U);
  EXPECT_EQ(reader.text(), "");
  ASSERT_TRUE(reader.Next());
  EXPECT_TRUE(reader.Is(20, WireType::kLengthDelimited));
  EXPECT_EQ(reader.text(), "text");
  EXPECT_EQ(reader.number(), 0U) << "nothing is left of the field before";
  EXPECT_FALSE(reader.Next());
  EXPECT_FALSE(reader.malformed());
}

TEST(ProtobufReader, FixedSizesAreText) {
  const std::string message =
      "\x0d"
      "1234"
      "\x11"
      "12345678";
  ProtobufReader reader(message);
  ASSERT_TRUE(reader.Next());
  EXPECT_TRUE(reader.Is(1, WireType::kFixed32));
  EXPECT_EQ(reader.text(), "1234");
  ASSERT_TRUE(reader.Next());
  EXPECT_TRUE(reader.Is(2, WireType::kFixed64));
  EXPECT_EQ(reader.text(), "12345678");
}

TEST(ProtobufReader, AGroupIsOneField) {
  // 1 {2: 5 3 {}} 4: 6
  const std::string message = BytesOf({0x0b, 0x10, 5, 0x1b, 0x1c, 0x0c, 0x20, 6});
  EXPECT_EQ(Walk(message), (Fields{1, 4}));
  ProtobufReader reader(message);
  ASSERT_TRUE(reader.Next());
  EXPECT_TRUE(reader.Is(1, WireType::kGroupBegin));
  EXPECT_EQ(reader.number(), 0U) << "what is inside is not told";
  EXPECT_EQ(reader.whole().size(), 6U);
}

TEST(ProtobufReader, GroupsEndInTheirOrder) {
  EXPECT_EQ(Walk(BytesOf({0x0b})), Fields{-1}) << "open at the end";
  EXPECT_EQ(Walk(BytesOf({0x0c})), Fields{-1}) << "never begun";
  EXPECT_EQ(Walk(BytesOf({0x0b, 0x13, 0x0c, 0x14})), Fields{-1}) << "crossed";
}

TEST(ProtobufReader, GroupsNestUpToALimit) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '\x0b') + std::string(depth, '\x0c');
  };
  EXPECT_EQ(Walk(nested(100)), Fields{1});
  EXPECT_EQ(Walk(nested(101)), Fields{-1});
}

TEST(ProtobufReader, KnowsTheWholeField) {
  std::string message;
  PutText(1, "a", &message);
  PutText(2, "text", &message);
  ProtobufReader reader(message);
  ASSERT_TRUE(reader.Next() && reader.Next());
  EXPECT_EQ(reader.whole(), absl::string_view(message).substr(3));
}

TEST(ProtobufReader, EndsAtTheFirstMistake) {
  const std::string good = BytesOf({0x08, 1});
  for (const std::string& bad : {
           BytesOf({0x00}),                                          // field 0
           BytesOf({0x02, 0x00}),                                    // field 0 with a length
           BytesOf({0x0e}), BytesOf({0x0f}),                         // no such type
           BytesOf({0x08}), BytesOf({0x80}), BytesOf({0x08, 0xff}),  // cut short
           BytesOf({0x0a, 2, 'x'}), BytesOf({0x0d, 1, 2, 3}), BytesOf({0x09}),  // likewise
           '\x08' + std::string(10, '\xff') + '\x01',                           // 11 bytes
           '\x0a' + std::string(9, '\xff') + '\x01',  // a length of 2^64 - 1
       }) {
    EXPECT_EQ(Walk(good + bad), (Fields{1, -1})) << testing::PrintToString(bad);
  }
}

TEST(ProtobufReader, KeysAndLengthsHaveFiveBytesAtMost) {
  EXPECT_EQ(Walk(BytesOf({0x88, 0x80, 0x80, 0x80, 0x00, 1})), Fields{1});
  EXPECT_EQ(Walk(BytesOf({0x88, 0x80, 0x80, 0x80, 0x10, 1})), Fields{1}) << "32 bits of it count";
  EXPECT_EQ(Walk(BytesOf({0x88, 0x80, 0x80, 0x80, 0x80, 0x00, 1})), Fields{-1});
  EXPECT_EQ(Walk(BytesOf({0x0a, 0x80, 0x80, 0x80, 0x80, 0x00})), Fields{1});
  EXPECT_EQ(Walk(BytesOf({0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00})), Fields{-1});
  EXPECT_EQ(Walk(BytesOf({0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00})), Fields{1}) << "a number";
}

TEST(ProtobufReader, AnEmptyMessageHasNoFields) { EXPECT_EQ(Walk(""), Fields{}); }

}  // namespace
}  // namespace mpsd

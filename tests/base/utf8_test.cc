#include "proto/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

TEST(CutAtCharacter, LeavesWhatFits) {
  EXPECT_EQ(CutAtCharacter("", 0), "");
  EXPECT_EQ(CutAtCharacter("abc", 3), "abc");
  EXPECT_EQ(CutAtCharacter("a€", 4), "a€");
}

TEST(CutAtCharacter, CutsBetweenBytesThatAreCharacters) {
  EXPECT_EQ(CutAtCharacter("abc", 2), "ab");
  EXPECT_EQ(CutAtCharacter("abc", 0), "");
}

TEST(CutAtCharacter, SplitsNoCharacter) {
  for (const size_t max : {1, 2, 3}) EXPECT_EQ(CutAtCharacter("a€b", max), "a") << max;
  EXPECT_EQ(CutAtCharacter("a€b", 4), "a€");
  for (const size_t max : {0, 1, 2, 3}) EXPECT_EQ(CutAtCharacter("😀", max), "") << max;
}

TEST(CutAtCharacter, EndsWhereNothingIsACharacter) {
  EXPECT_EQ(CutAtCharacter("\xff\xff\xff", 2), "\xff\xff");
  EXPECT_EQ(CutAtCharacter(std::string(9, '\x80'), 4), "") << "all of them go on";
}

TEST(CharacterBytes, IsTheSizeOfTheFirstCharacter) {
  EXPECT_EQ(CharacterBytes("ab"), 1U);
  EXPECT_EQ(CharacterBytes("\u00E9b"), 2U);
  EXPECT_EQ(CharacterBytes("€"), 3U);
  EXPECT_EQ(CharacterBytes("😀"), 4U);
}

TEST(CharacterBytes, IsZeroWhereNoCharacterBegins) {
  for (const char* text :
       {"", "\x80", "\xC3", "\xC1\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_EQ(CharacterBytes(text), 0U) << testing::PrintToString(text);
  }
}

TEST(Utf8, IsToldFromOtherBytes) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("na\xC3\xAFve \xF0\x9F\x98\x80"));
  EXPECT_FALSE(IsUtf8("a\xFF"));
  EXPECT_FALSE(IsUtf8("\xE2\x82"));
}

TEST(WithoutBadBytes, BytesThatAreNoCharacterAreReplaced) {
  EXPECT_EQ(WithoutBadBytes(""), "");
  EXPECT_EQ(WithoutBadBytes("na\xC3\xAFve \xF0\x9F\x98\x80"), "na\xC3\xAFve \xF0\x9F\x98\x80");
  EXPECT_EQ(WithoutBadBytes("a\xFF"
                            "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(WithoutBadBytes("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace mpsd

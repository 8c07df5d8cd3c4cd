#include "text/unicode/utf8.h"

#include <gtest/gtest.h>

namespace mpsd::text {
namespace {

std::string Valid(absl::string_view text) {
  std::string storage;
  return std::string(ValidUtf8(text, &storage));
}

TEST(ValidUtf8, LeavesAValidTextWhereItIs) {
  const std::string text = "plain ASCII of some length, \u00e9, \u4e2d and \U0001f600";
  std::string storage;
  EXPECT_EQ(ValidUtf8(text, &storage).data(), text.data());
  EXPECT_TRUE(storage.empty());
}

TEST(ValidUtf8, ReplacesEachBrokenCharacterOnce) {
  EXPECT_EQ(Valid("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(Valid("a\xC3"), "a\uFFFD");
  EXPECT_EQ(Valid("\xE4\xB8z"), "\uFFFDz");
  EXPECT_EQ(Valid("\xF0\x9F\x98"), "\uFFFD");
}

TEST(ValidUtf8, ReplacesEachByteOfWhatCanBeginNoCharacter) {
  EXPECT_EQ(Valid("\xC0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(Valid("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(Valid("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(TakeCharacter, ReadsWhatAppendUtf8Writes) {
  for (const char32_t c : {0x1U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    std::string text;
    AppendUtf8(c, &text);
    const char* at = text.data();
    EXPECT_EQ(TakeCharacter(&at), c);
    EXPECT_EQ(at, text.data() + text.size());
    EXPECT_EQ(CharacterCount(text), 1U);
  }
}

}  // namespace
}  // namespace mpsd::text

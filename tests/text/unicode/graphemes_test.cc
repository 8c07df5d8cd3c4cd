#include "text/unicode/graphemes.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd::text {
namespace {

// The text with a bar between its graphemes.
std::string Cut(absl::string_view text) {
  std::string cut;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = GraphemeEnd(text, begin);
    cut += (begin > 0 ? "|" : "") + std::string(text.substr(begin, end - begin));
    begin = end;
  }
  return cut;
}

TEST(GraphemeEnd, KeepsAMarkWithItsCharacter) {
  EXPECT_EQ(Cut("ae\u0301\u0323b"), "a|e\u0301\u0323|b");
}

TEST(GraphemeEnd, KeepsALineEndTogetherAndApartFromMarks) {
  EXPECT_EQ(Cut("a\r\n\n\r\u0301"), "a|\r\n|\n|\r|\u0301");
}

TEST(GraphemeEnd, KeepsASyllableTogether) {
  EXPECT_EQ(Cut("\u1100\u1161\u11a8\u1100"), "\u1100\u1161\u11a8|\u1100");
  EXPECT_EQ(Cut("\uac00\u11a8\uac01\u1161"), "\uac00\u11a8|\uac01|\u1161");
}

TEST(GraphemeEnd, KeepsJoinedEmojiTogether) {
  EXPECT_EQ(Cut("\u263a\u200d\u263a\u263a"), "\u263a\u200d\u263a|\u263a");
  EXPECT_EQ(Cut("a\u200d\u263a"), "a\u200d|\u263a");
}

TEST(GraphemeEnd, KeepsConsonantsWithALinkerTogether) {
  EXPECT_EQ(Cut("\u0915\u094d\u0915\u0915"), "\u0915\u094d\u0915|\u0915");
}

}  // namespace
}  // namespace mpsd::text

#include "text/split/word_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd::text {
namespace {

constexpr char kLlama3[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The words with bars between them.
std::string Cut(const WordPattern& pattern, absl::string_view text) {
  std::string cut;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = pattern.WordEnd(text, begin);
    cut += (begin > 0 ? "|" : "") + std::string(text.substr(begin, end - begin));
    begin = end;
  }
  return cut;
}

TEST(WordPattern, CutsAsGpt2Does) {
  const WordPattern pattern = WordPattern::Gpt2();
  EXPECT_EQ(Cut(pattern, "Hi there, I'm 123456!!  ok"), "Hi| there|,| I|'m| 123456|!!| | ok");
  EXPECT_EQ(Cut(pattern, "a \n\tb  "), "a| \n|\t|b|  ");
  EXPECT_EQ(Cut(pattern, "it'S"), "it|'|S");
}

TEST(WordPattern, CutsAsLlama3Does) {
  const auto pattern = WordPattern::Of(kLlama3);
  ASSERT_TRUE(pattern.has_value());
  EXPECT_EQ(Cut(*pattern, "it'S (ok) 12345 x!\n\n  y"), "it|'S| (|ok|)| |123|45| x|!\n\n| | y");
  EXPECT_EQ(Cut(*pattern, "a \n \n  b"), "a| \n \n| | b");
  EXPECT_EQ(Cut(*pattern, "(a\tb"), "(a|\tb");
}

TEST(WordPattern, KnowsNoOtherExpression) {
  EXPECT_FALSE(WordPattern::Of("").has_value());
  EXPECT_FALSE(WordPattern::Of(R"(\w+)").has_value());
}

}  // namespace
}  // namespace mpsd::text

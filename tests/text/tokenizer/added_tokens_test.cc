#include "text/tokenizer/added_tokens.h"

#include <gtest/gtest.h>

namespace mpsd::text {
namespace {

// The parts as a text: tokens in brackets.
std::string Shown(const std::vector<AddedToken>& tokens, absl::string_view text,
                  bool reads_special = true) {
  const auto added = AddedTokens::Make(tokens);
  if (!added.ok()) return std::string(added.status().message());
  std::vector<AddedTokens::Part> parts;
  added->Cut(text, reads_special, &parts);
  std::string shown;
  for (const AddedTokens::Part& part : parts) {
    const std::string piece(text.substr(part.begin, part.end - part.begin));
    shown += part.id < 0 ? piece : "{" + piece + "}";
  }
  return shown;
}

AddedToken Token(int32_t id, const std::string& content) {
  AddedToken token;
  token.id = id;
  token.content = content;
  return token;
}

TEST(AddedTokens, FindsTheLongestAtTheFirstPlace) {
  EXPECT_EQ(Shown({Token(1, "ab"), Token(2, "abc"), Token(3, "cd")}, "xabcdab"), "x{abc}d{ab}");
  EXPECT_EQ(Shown({}, "abc"), "abc");
}

TEST(AddedTokens, TakesTheSpacesThatItsRulesName) {
  AddedToken left = Token(1, "L");
  left.lstrip = true;
  AddedToken right = Token(2, "R");
  right.rstrip = true;
  EXPECT_EQ(Shown({left, right}, "a L b R\u3000\tc R L"), "a{ L} b {R\u3000\t}c {R }{L}");
}

TEST(AddedTokens, AreGoneIfTheTokenBeforeTookTheirSpaces) {
  AddedToken line = Token(1, "\n");
  line.lstrip = true;
  AddedToken right = Token(2, "R");
  right.rstrip = true;
  EXPECT_EQ(Shown({line, right}, "a \n\nR\nb R \n\nc"), "a{ \n}{\n}{R\n}b {R \n\n}c");
  line.lstrip = false;
  EXPECT_EQ(Shown({line, right}, "R\nb"), "{R\n}{\n}b");
}

TEST(AddedTokens, IsNoWordOfItsOwnBesideALetter) {
  AddedToken word = Token(1, "lo");
  word.single_word = true;
  EXPECT_EQ(Shown({word}, "lo lol \u00e9lo -lo-"), "{lo} lol \u00e9lo -{lo}-");
}

TEST(AddedTokens, LeavesSpecialOnesToTheTextWhenAsked) {
  AddedToken special = Token(1, "[SEP]");
  special.special = true;
  EXPECT_EQ(Shown({special, Token(2, "x")}, "[SEP]x", false), "[SEP]{x}");
}

TEST(AddedTokens, RefusesEmptyAndEqualOnes) {
  EXPECT_EQ(Shown({Token(7, "")}, "a"), "the token 7 is empty");
  EXPECT_EQ(Shown({Token(1, "a"), Token(2, "a")}, "a"), "the token 'a' is there twice");
}

}  // namespace
}  // namespace mpsd::text

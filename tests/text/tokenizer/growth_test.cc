// growth: files whose steps make texts longer and longer, and texts that become long by themselves.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd::text {
namespace {

constexpr char kDoubling[] = R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"})";
constexpr char kByteLevel[] =
    R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})";

// A sequence of `count` times `step`.
std::string Sequence(const std::string& key, const std::string& step, int count) {
  std::string steps;
  for (int i = 0; i < count; ++i) absl::StrAppend(&steps, i > 0 ? ", " : "", step);
  return absl::StrCat(R"({"type": "Sequence", ")", key, R"(": [)", steps, "]}");
}

absl::StatusOr<Tokenizer> Load(const std::string& normalizer, const std::string& pre_tokenizer,
                               const std::string& added_tokens = "[]") {
  return Tokenizer::Load(absl::StrCat(
      R"({"version": "1.0", "normalizer": )", normalizer, R"(, "pre_tokenizer": )", pre_tokenizer,
      R"(, "added_tokens": )", added_tokens,
      R"(, "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1]]}})"));
}

std::string EncodeError(const absl::StatusOr<Tokenizer>& tokenizer, absl::string_view text) {
  if (!tokenizer.ok()) return std::string(tokenizer.status().message());
  return std::string(tokenizer->Encode(text, {}).status().message());
}

TEST(GrowthPolicy, GrowsWithTheTextUpToABound) {
  EXPECT_EQ(MostGrownBytes(0), 4096U);
  EXPECT_EQ(MostGrownBytes(100), 7296U);
  EXPECT_EQ(MostGrownBytes(1 << 20), 4U << 20);
}

TEST(TokenizerGrowth, ALetterThatDoublesInEachStepIsRefused) {
  EXPECT_EQ(EncodeError(Load(Sequence("normalizers", kDoubling, 32), "null"), "a"),
            "the text becomes more than 4128 bytes once it is normalized");
}

TEST(TokenizerGrowth, AnAddedTokenThatDoublesInEachStepIsRefused) {
  const std::string token = R"([{"id": 1, "content": "a", "normalized": true}])";
  EXPECT_EQ(EncodeError(Load(Sequence("normalizers", kDoubling, 32), "null", token), ""),
            "the added token 1 has more than 512 bytes");
}

TEST(TokenizerGrowth, BytesThatAreMadeVisibleAgainAndAgainAreRefused) {
  EXPECT_EQ(EncodeError(Load("null", Sequence("pretokenizers", kByteLevel, 32)), "\u00e9"),
            "the text becomes more than 4160 bytes once it is normalized");
}

TEST(TokenizerGrowth, PartsBetweenAddedTokensShareTheBound) {
  const std::string prefix =
      absl::StrCat(R"({"type": "Prepend", "prepend": ")", std::string(256, 'a'), "\"}");
  const auto tokenizer = Load(prefix, "null", R"([{"id": 2, "content": "!", "special": true}])");
  EXPECT_EQ(EncodeError(tokenizer, "a!a!a!a"), "");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "a!";
  EXPECT_EQ(EncodeError(tokenizer, many),
            "the text becomes more than 68096 bytes once it is normalized");
}

// Each part becomes 256 bytes in pieces.
TEST(TokenizerGrowth, PartsBetweenAddedTokensShareTheBoundOfPieces) {
  const auto tokenizer = Load("null", Sequence("pretokenizers", kByteLevel, 7),
                              R"([{"id": 2, "content": "!", "special": true}])");
  EXPECT_EQ(EncodeError(tokenizer, "\u00e9!\u00e9!\u00e9!\u00e9"), "");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "\u00e9!";
  EXPECT_EQ(EncodeError(tokenizer, many),
            "the text becomes more than 100096 bytes once it is normalized");
}

TEST(TokenizerGrowth, ATextWhoseNormalFormIsLargeIsRefused) {
  std::string text;  // a character of 3 bytes, whose form NFKC has 18
  while (text.size() + 3 <= kMaxTextBytes) text += "\u3316";
  const auto tokenizer = Load(R"({"type": "NFKC"})", "null");
  EXPECT_EQ(EncodeError(tokenizer, text),
            "the text becomes more than 4194304 bytes once it is normalized");
  EXPECT_EQ(EncodeError(tokenizer, text.substr(0, 600'000)), "");
}

TEST(TokenizerGrowth, StepsCountOverAllSequences) {
  const std::string nested = Sequence("normalizers", R"({"type": "NFC"})", 15);
  EXPECT_TRUE(Load(Sequence("normalizers", nested, 2), "null").ok());
  EXPECT_EQ(EncodeError(Load(Sequence("normalizers", nested, 3), "null"), ""),
            "normalizer: 'normalizers' must be a short array");
}

TEST(TokenizerGrowth, LiteralsAreShort) {
  const std::string replace = R"({"type": "Replace", "pattern": {"String": "P"}, "content": "C"})";
  const std::string prepend = R"({"type": "Prepend", "prepend": "T"})";
  const std::string fits(256, 'a');
  const std::string larger(257, 'a');
  EXPECT_TRUE(Load(absl::StrReplaceAll(replace, {{"\"P\"", "\"" + fits + "\""}}), "null").ok());
  EXPECT_EQ(EncodeError(
                Load(absl::StrReplaceAll(replace, {{"\"P\"", "\"" + larger + "\""}}), "null"), ""),
            "normalizer: 'String' has more than 256 bytes");
  EXPECT_EQ(EncodeError(
                Load(absl::StrReplaceAll(replace, {{"\"C\"", "\"" + larger + "\""}}), "null"), ""),
            "normalizer: 'content' has more than 256 bytes");
  EXPECT_EQ(EncodeError(
                Load(absl::StrReplaceAll(prepend, {{"\"T\"", "\"" + larger + "\""}}), "null"), ""),
            "normalizer: 'prepend' has more than 256 bytes");
}

}  // namespace
}  // namespace mpsd::text

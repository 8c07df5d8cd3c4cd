#include "text/subword/unigram.h"

#include <gtest/gtest.h>

namespace mpsd::text {
namespace {

using Ids = std::vector<int32_t>;

// The ids of one piece, by a model whose token 0 is the unknown one.
Ids IdsOf(const std::vector<std::pair<std::string, double>>& vocabulary, absl::string_view text,
          bool falls_back_to_bytes = false) {
  std::vector<VocabularyToken> tokens = {{"<unk>", 0}};
  std::vector<double> scores = {0};
  for (const auto& [token, score] : vocabulary) {
    tokens.push_back({token, static_cast<int32_t>(tokens.size())});
    scores.push_back(score);
  }
  const auto model = Unigram::Make(tokens, scores, 0, falls_back_to_bytes);
  Pieces pieces;
  pieces.bytes = std::string(text);
  pieces.Add(0, text.size());
  Ids ids;
  model->Append(pieces, &ids);
  return ids;
}

TEST(Unigram, TakesTheWayOfTheHighestScore) {
  EXPECT_EQ(IdsOf({{"a", -1}, {"b", -1}, {"ab", -1.5}, {"c", -1}, {"bc", -0.25}}, "abc"),
            (Ids{1, 5}));
}

// The lowest score is -1, so that "x" has -11 where no token begins with it.
TEST(Unigram, AnUnknownCharacterIsTenBelowTheLowestScore) {
  EXPECT_EQ(IdsOf({{"xab", -1}, {"ab", 9.5}}, "xab"), (Ids{1}));
  EXPECT_EQ(IdsOf({{"xab", -1}, {"ab", 10.5}}, "xab"), (Ids{0, 2}));
}

TEST(Unigram, KeepsTheFirstOfTwoEqualWays) {
  EXPECT_EQ(IdsOf({{"a", -1}, {"aa", -2}}, "aa"), (Ids{2}));
}

TEST(Unigram, JoinsUnknownCharactersIntoOne) {
  EXPECT_EQ(IdsOf({{"a", -1}}, "\u4e2dxay\u4e2d"), (Ids{0, 1, 0}));
}

TEST(Unigram, ACharacterThatOnlyBeginsTokensIsUnknownByItself) {
  EXPECT_EQ(IdsOf({{"ab", -100}, {"bc", -1}}, "abc"), (Ids{0, 2}));
}

TEST(Unigram, FallsBackToBytesWhereAllOfThemHaveTokens) {
  const std::vector<std::pair<std::string, double>> bytes = {
      {"a", -1}, {"<0xC3>", -9}, {"<0xA9>", -9}};
  EXPECT_EQ(IdsOf(bytes, "a\u00e9a", true), (Ids{1, 2, 3, 1}));
  EXPECT_EQ(IdsOf(bytes, "a\u00e8a", true), (Ids{1, 0, 1}));
  EXPECT_EQ(IdsOf(bytes, "a\u00e9a", false), (Ids{1, 0, 1}));
}

}  // namespace
}  // namespace mpsd::text

#include "text/subword/bpe.h"

#include <gtest/gtest.h>

namespace mpsd::text {
namespace {

using Ids = std::vector<int32_t>;

const std::vector<VocabularyToken>& Tokens() {
  static const auto* const tokens = new std::vector<VocabularyToken>{
      {"?", 0}, {"a", 1}, {"b", 2}, {"c", 3}, {"ab", 4}, {"bc", 5}, {"abab", 6}, {"abc", 7}};
  return *tokens;
}

Ids IdsOf(const BpeOptions& options, const std::vector<Bpe::Pair>& merges, absl::string_view text,
          const std::vector<VocabularyToken>& tokens = Tokens()) {
  const auto model = Bpe::Make(options, tokens, merges);
  Pieces pieces;
  pieces.bytes = std::string(text);
  pieces.Add(0, text.size());
  Ids ids;
  if (model.ok()) model->Append(pieces, &ids);
  return ids;
}

TEST(Bpe, JoinsByRank) {
  EXPECT_EQ(IdsOf({}, {{"a", "b"}, {"b", "c"}}, "abc"), (Ids{4, 3}));
  EXPECT_EQ(IdsOf({}, {{"b", "c"}, {"a", "b"}}, "abc"), (Ids{1, 5}));
}

TEST(Bpe, JoinsWhatWasJoined) {
  EXPECT_EQ(IdsOf({}, {{"a", "b"}, {"ab", "ab"}}, "ababab"), (Ids{6, 4}));
}

// "b" is part of "bc" by the time at which "a" and "b" come up, and "a" and "bc" become another.
TEST(Bpe, PassesOverAMergeOfTokensThatAreThereNoMore) {
  EXPECT_EQ(IdsOf({}, {{"b", "c"}, {"a", "b"}, {"a", "bc"}}, "abc"), (Ids{7}));
  EXPECT_EQ(IdsOf({}, {{"b", "c"}, {"a", "b"}}, "abc"), (Ids{1, 5}));
}

TEST(Bpe, TakesAPieceThatIsATokenWithoutMerges) {
  BpeOptions options;
  EXPECT_EQ(IdsOf(options, {}, "abc"), (Ids{1, 2, 3}));
  options.ignore_merges = true;
  EXPECT_EQ(IdsOf(options, {}, "abc"), (Ids{7}));
}

TEST(Bpe, LeavesOutOrNamesUnknownCharacters) {
  BpeOptions options;
  EXPECT_EQ(IdsOf(options, {}, "xaxx"), (Ids{1}));
  options.unk_token = "?";
  EXPECT_EQ(IdsOf(options, {}, "xaxx"), (Ids{0, 1, 0, 0}));
  options.fuse_unk = true;
  EXPECT_EQ(IdsOf(options, {}, "xaxx"), (Ids{0, 1, 0}));
}

TEST(Bpe, FallsBackToTheBytesOfACharacter) {
  BpeOptions options;
  options.unk_token = "?";
  options.byte_fallback = true;
  const std::vector<VocabularyToken> tokens = {{"?", 0}, {"a", 1}, {"<0xC3>", 2}, {"<0xA9>", 3}};
  EXPECT_EQ(IdsOf(options, {}, "\u00e9a", tokens), (Ids{2, 3, 1}));
  EXPECT_EQ(IdsOf(options, {}, "\u00e8a", tokens), (Ids{0, 1}));  // its second byte is no token
  // An unknown character comes behind the bytes that follow it, as in the reference.
  EXPECT_EQ(IdsOf(options, {}, "x\u00e9a", tokens), (Ids{2, 3, 0, 1}));
  EXPECT_EQ(IdsOf(options, {}, "xx", tokens), (Ids{0, 0}));
  options.byte_fallback = false;
  EXPECT_EQ(IdsOf(options, {}, "\u00e9", tokens), (Ids{0}));
}

TEST(Bpe, RefusesAMergeWithoutTokens) {
  EXPECT_EQ(Bpe::Make({}, Tokens(), {{"c", "a"}}).status().message(),
            "the vocabulary lacks a token of the merge 'c a'");
}

}  // namespace
}  // namespace mpsd::text

#include "text/split/simple_pre_tokenizers.h"

#include <gtest/gtest.h>

#include <string>

#include "text/split/byte_level.h"

namespace mpsd::text {
namespace {

// The pieces of a text with bars between them.
std::string PiecesOf(const PreTokenizer& pre_tokenizer, absl::string_view text) {
  Pieces whole;
  whole.bytes = std::string(text);
  whole.Add(0, text.size());
  Pieces pieces;
  EXPECT_TRUE(pre_tokenizer.Cut(whole, SIZE_MAX, &pieces));
  std::string cut;
  for (size_t i = 0; i < pieces.spans.size(); ++i) {
    cut += (i > 0 ? "|" : "") + std::string(pieces.Piece(i));
  }
  return cut;
}

TEST(Metaspace, PutsASignBeforeEachWord) {
  EXPECT_EQ(PiecesOf(Metaspace("_", true, true), "a bc  d"), "_a|_bc|_|_d");
  EXPECT_EQ(PiecesOf(Metaspace("_", true, true), " a_b"), "_a|_b");
  EXPECT_EQ(PiecesOf(Metaspace("_", false, true), "a b"), "a|_b");
  EXPECT_EQ(PiecesOf(Metaspace("_", true, false), "a b"), "_a_b");
}

TEST(PreTokenizerSequence, EndsAtTheStepThatMakesATextTooLong) {
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  for (int i = 0; i < 32; ++i) steps.push_back(std::make_unique<ByteLevel>(false, false));
  const PreTokenizerSequence sequence(std::move(steps));
  Pieces whole;
  whole.bytes = "\u00e9";
  whole.Add(0, whole.bytes.size());
  Pieces pieces;
  EXPECT_FALSE(sequence.Cut(whole, 1000, &pieces));
}

TEST(WhitespaceSplit, DropsSpaces) {
  EXPECT_EQ(PiecesOf(WhitespaceSplit(), " a\u3000b,c\n"), "a|b,c");
}

TEST(SplitBehind, EndsAPieceWithEachMatch) {
  EXPECT_EQ(PiecesOf(SplitBehind(" "), "a bc  d "), "a |bc | |d ");
  EXPECT_EQ(PiecesOf(SplitBehind(" "), " a"), " |a");
  EXPECT_EQ(PiecesOf(SplitBehind("--"), "a---b"), "a--|-b");
}

TEST(SplitBehind, CutsThePiecesOfTheStepBefore) {
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  steps.push_back(std::make_unique<SplitBehind>(" "));
  steps.push_back(std::make_unique<SplitBehind>("-"));
  EXPECT_EQ(PiecesOf(PreTokenizerSequence(std::move(steps)), "a-b c-d"), "a-|b |c-|d");
}

TEST(ByteLevel, GivesEachByteAVisibleCharacter) {
  EXPECT_EQ(PiecesOf(ByteLevel(false, true), "a b\n\u00e9"), "a|\u0120b|\u010a|\u00c3\u00a9");
  EXPECT_EQ(PiecesOf(ByteLevel(true, false), "a b"), "\u0120a\u0120b");
  EXPECT_EQ(PiecesOf(ByteLevel(true, false), " a"), "\u0120a") << "it has a space already";
}

}  // namespace
}  // namespace mpsd::text

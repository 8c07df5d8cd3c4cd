#include "client/cli/text/wordpiece.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "proto/base/whole_file.h"

namespace mpsd::cli {
namespace {

using Ids = std::vector<int64_t>;

std::string Source(const std::string& name) { return std::string(MPSD_TEST_FOLDER) + "/" + name; }

TEST(WordPiece, AgreesWithTheReferenceTokenizer) {
  const auto vocab = ReadWholeFile(Source("tiny_vocab.txt"), 1 << 20);
  ASSERT_TRUE(vocab.ok()) << vocab.status();
  const auto pieces = WordPiece::Parse({*vocab});
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  const auto cases = nlohmann::json::parse(std::ifstream(Source("wordpiece_fixture.json")));
  ASSERT_GE(cases.size(), 25U);
  for (const auto& one : cases) {
    EXPECT_EQ(pieces->Encode(one["text"].get<std::string>()).ids, one["ids"].get<Ids>())
        << one["text"];
  }
}

TEST(WordPiece, AgreesWithTheReferenceTokenizerOfACasedVocabulary) {
  const auto vocab = ReadWholeFile(Source("tiny_vocab.txt"), 1 << 20);
  ASSERT_TRUE(vocab.ok()) << vocab.status();
  const auto pieces = WordPiece::Parse({*vocab, LetterCase::kKept});
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  const auto cases = nlohmann::json::parse(std::ifstream(Source("wordpiece_cased_fixture.json")));
  ASSERT_GE(cases.size(), 25U);
  for (const auto& one : cases) {
    EXPECT_EQ(pieces->Encode(one["text"].get<std::string>()).ids, one["ids"].get<Ids>())
        << one["text"];
  }
}

constexpr char kVocab[] = "[UNK]\n[CLS]\n[SEP]\n[PAD]\nab\n##c\n##cd\nd\n";

TEST(WordPiece, TakesTheLongestPieceFirst) {
  const auto pieces = WordPiece::Parse({kVocab});
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(pieces->Encode("abcd").ids, (Ids{1, 4, 6, 2}));
  EXPECT_EQ(pieces->Encode("abc d").ids, (Ids{1, 4, 5, 7, 2}));
  EXPECT_EQ(pieces->pad_id(), 3);
}

TEST(WordPiece, IsUnknownAsAWholeWhenARestHasNoPiece) {
  const auto pieces = WordPiece::Parse({kVocab});
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(pieces->Encode("abx").ids, (Ids{1, 0, 2}));
}

TEST(WordPiece, CutsATextAtTheLimitAndStillEndsIt) {
  const auto pieces = WordPiece::Parse({kVocab});
  ASSERT_TRUE(pieces.ok());
  std::string text;
  for (size_t i = 0; i < kMaxTokens; ++i) text += "d ";
  const Tokens tokens = pieces->Encode(text);
  const Ids& ids = tokens.ids;
  EXPECT_EQ(ids.size(), kMaxTokens);
  EXPECT_EQ(ids[kMaxTokens - 2], 7);
  EXPECT_EQ(ids.back(), 2);
  EXPECT_EQ(tokens.cut_count, 2U);
  EXPECT_EQ(pieces->Encode("d d").cut_count, 0U);
}

TEST(WordPiece, DropsBytesThatAreNotUtf8) {
  const auto pieces = WordPiece::Parse({kVocab});
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(pieces
                ->Encode("a\xFF\xC3"
                         "b \xE4\xB8")
                .ids,
            (Ids{1, 4, 2}));
}

TEST(WordPiece, RefusesAVocabularyWithoutItsSpecialTokens) {
  EXPECT_EQ(WordPiece::Parse({"[CLS]\n[SEP]\nab\n"}).status().message(),
            "the vocabulary has no [UNK]");
}

TEST(WordPiece, ReadsLinesThatEndAsOnWindows) {
  const auto pieces = WordPiece::Parse({"[UNK]\r\n[CLS]\r\n[SEP]\r\nab\r\n"});
  ASSERT_TRUE(pieces.ok());
  EXPECT_EQ(pieces->Encode("ab").ids, (Ids{1, 3, 2}));
}

}  // namespace
}  // namespace mpsd::cli

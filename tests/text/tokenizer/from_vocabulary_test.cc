#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "proto/files/whole_file.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd::text {
namespace {

using Ids = std::vector<int32_t>;

constexpr EncodeOptions kRow = {.max_tokens = 256};

Ids IdsOf(const Tokenizer& tokenizer, absl::string_view text) {
  const auto row = tokenizer.Encode(text, kRow);
  return row.ok() ? row->ids : Ids{};
}

std::string Source(const std::string& name) { return std::string(MPSD_TEST_FOLDER) + "/" + name; }

TEST(FromVocabulary, AgreesWithTheReferenceTokenizer) {
  const auto vocab = ReadWholeFile(Source("tiny_vocab.txt"), 1 << 20).value();
  const auto tokenizer = Tokenizer::FromVocabulary(vocab, true).value();
  const auto cases = nlohmann::json::parse(std::ifstream(Source("wordpiece_fixture.json")));
  ASSERT_GE(cases.size(), 25U);
  for (const auto& one : cases) {
    EXPECT_EQ(IdsOf(tokenizer, one["text"].get<std::string>()), one["ids"].get<Ids>())
        << one["text"];
  }
}

TEST(FromVocabulary, AgreesWithTheReferenceTokenizerOfACasedVocabulary) {
  const auto vocab = ReadWholeFile(Source("tiny_vocab.txt"), 1 << 20).value();
  const auto tokenizer = Tokenizer::FromVocabulary(vocab, false).value();
  const auto cases = nlohmann::json::parse(std::ifstream(Source("wordpiece_cased_fixture.json")));
  ASSERT_GE(cases.size(), 25U);
  for (const auto& one : cases) {
    EXPECT_EQ(IdsOf(tokenizer, one["text"].get<std::string>()), one["ids"].get<Ids>())
        << one["text"];
  }
}

constexpr char kVocab[] = "[UNK]\n[CLS]\n[SEP]\n[PAD]\nab\n##c\n##cd\nd\n";

TEST(FromVocabulary, TakesTheLongestPieceFirst) {
  const auto tokenizer = Tokenizer::FromVocabulary(kVocab, true).value();
  EXPECT_EQ(IdsOf(tokenizer, "abcd"), (Ids{1, 4, 6, 2}));
  EXPECT_EQ(IdsOf(tokenizer, "abc d"), (Ids{1, 4, 5, 7, 2}));
  EXPECT_EQ(tokenizer.id_bound(), 8);
}

TEST(FromVocabulary, IsUnknownAsAWholeWhenARestHasNoPiece) {
  const auto tokenizer = Tokenizer::FromVocabulary(kVocab, true).value();
  EXPECT_EQ(IdsOf(tokenizer, "abx"), (Ids{1, 0, 2}));
}

TEST(FromVocabulary, CutsATextAtTheLimitAndStillEndsIt) {
  const auto tokenizer = Tokenizer::FromVocabulary(kVocab, true).value();
  std::string text;
  for (size_t i = 0; i < kRow.max_tokens; ++i) text += "d ";
  const auto tokens = tokenizer.Encode(text, kRow).value();
  const Ids& ids = tokens.ids;
  EXPECT_EQ(ids.size(), kRow.max_tokens);
  EXPECT_EQ(ids[kRow.max_tokens - 2], 7);
  EXPECT_EQ(ids.back(), 2);
  EXPECT_EQ(tokens.cut_count, 2U);
  EXPECT_EQ(tokenizer.Encode("d d", kRow)->cut_count, 0U);
}

TEST(FromVocabulary, DropsBytesThatAreNotUtf8) {
  const auto tokenizer = Tokenizer::FromVocabulary(kVocab, true).value();
  EXPECT_EQ(IdsOf(tokenizer,
                  "a\xFF\xC3"
                  "b \xE4\xB8"),
            (Ids{1, 4, 2}));
}

TEST(FromVocabulary, RefusesAVocabularyWithoutItsSpecialTokens) {
  EXPECT_EQ(Tokenizer::FromVocabulary("[CLS]\n[SEP]\nab\n", true).status().message(),
            "the vocabulary has no [UNK]");
}

TEST(FromVocabulary, RefusesAVocabularyThatIsNotUtf8) {
  EXPECT_EQ(Tokenizer::FromVocabulary("[UNK]\n[CLS]\n[SEP]\na\xff\n", true).status().message(),
            "the vocabulary is not UTF-8");
}

TEST(FromVocabulary, ReadsLinesThatEndAsOnWindows) {
  const auto tokenizer =
      Tokenizer::FromVocabulary("[UNK]\r\n[CLS]\r\n[SEP]\r\nab\r\n", true).value();
  EXPECT_EQ(IdsOf(tokenizer, "ab"), (Ids{1, 3, 2}));
}

TEST(FromVocabulary, TakesTheLastOfTwoEqualLines) {
  const auto tokenizer = Tokenizer::FromVocabulary("[UNK]\n[CLS]\nab\n[SEP]\nab\n", true).value();
  EXPECT_EQ(IdsOf(tokenizer, "ab"), (Ids{1, 4, 3}));
}

TEST(FromVocabulary, FindsTheSpecialTokensThatItHasInTexts) {
  const auto tokenizer = Tokenizer::FromVocabulary(kVocab, true).value();
  EXPECT_EQ(IdsOf(tokenizer, "d[SEP]d[PAD]"), (Ids{1, 7, 2, 7, 3, 2}));
  EXPECT_EQ(IdsOf(tokenizer, "[sep]"), (Ids{1, 0, 0, 0, 2}));
  EXPECT_EQ(IdsOf(tokenizer, "[MASK]"), (Ids{1, 0, 0, 0, 2}));
}

}  // namespace
}  // namespace mpsd::text

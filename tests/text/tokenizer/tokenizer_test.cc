#include "text/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mpsd::text {
namespace {

using Ids = std::vector<int32_t>;

constexpr char kJson[] = R"({
  "version": "1.0", "truncation": {"max_length": 4}, "padding": null, "decoder": {"type": "any"},
  "added_tokens": [{"id": 3, "content": "[MASK]", "special": true, "lstrip": true}],
  "normalizer": {"type": "BertNormalizer"},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
  "model": {"type": "WordPiece", "vocab":
    {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "[MASK]": 3, "un": 4, "##able": 5, ",": 6, "a": 7}}})";

Tokenizer Loaded() {
  absl::StatusOr<Tokenizer> tokenizer = Tokenizer::Load(kJson);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return *std::move(tokenizer);
}

// The error where `what` of the JSON stands for `part`.
std::string LoadError(const std::string& part, const std::string& what) {
  std::string json = kJson;
  json.replace(json.find(part), part.size(), what);
  return std::string(Tokenizer::Load(json).status().message());
}

TEST(Tokenizer, PassesATextThroughItsParts) {
  const auto row = Loaded().Encode("Un\u00e4ble, UNABLE [MASK]a", {}).value();
  EXPECT_EQ(row.ids, (Ids{1, 4, 5, 6, 4, 5, 3, 7, 2}));
  EXPECT_EQ(row.type_ids, std::vector<uint8_t>(9, 0));
  EXPECT_EQ(row.cut_count, 0U);
}

TEST(Tokenizer, KnowsTheTokensOfIds) {
  EXPECT_EQ(Loaded().TokensOf({1, 5, 3, 99}),
            (std::vector<std::string>{"[CLS]", "##able", "[MASK]", ""}));
}

TEST(Tokenizer, AnAddedTokenBeyondTheVocabularyIsKnownToo) {
  std::string json = kJson;
  json.replace(json.find("\"id\": 3"), 7, "\"id\": 8");
  json.replace(json.find("[MASK]"), 6, "[NEW]");
  const Tokenizer tokenizer = Tokenizer::Load(json).value();
  EXPECT_EQ(tokenizer.TokensOf({8, 3}), (std::vector<std::string>{"[NEW]", "[MASK]"}));
}

TEST(Tokenizer, PutsTheFrameAroundAPair) {
  const auto row = Loaded().EncodePair("a", "a,", {}).value();
  EXPECT_EQ(row.ids, (Ids{1, 7, 2, 7, 6, 2}));
  EXPECT_EQ(row.type_ids, (std::vector<uint8_t>{0, 0, 0, 1, 1, 1}));
}

TEST(Tokenizer, AProcessorOfASequenceMayChangeTheTypesAlone) {
  std::string json = kJson;
  const size_t begin = json.find(R"({"type": "BertProcessing")");
  json.replace(begin, json.find('}', begin) + 1 - begin, R"({"type": "Sequence", "processors": [
      {"type": "TemplateProcessing", "special_tokens": {},
       "single": [{"Sequence": {"id": "A", "type_id": 2}}],
       "pair": [{"Sequence": {"id": "B", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 3}}]},
      {"type": "ByteLevel"}]})");
  const auto row = Tokenizer::Load(json)->EncodePair("a", "un", {}).value();
  EXPECT_EQ(row.ids, (Ids{4, 7}));
  EXPECT_EQ(row.type_ids, (std::vector<uint8_t>{0, 3}));
}

TEST(Tokenizer, CutsTheSideThatIsAskedForAndCounts) {
  const Tokenizer tokenizer = Loaded();
  EncodeOptions options = {.max_tokens = 4};
  EXPECT_EQ(tokenizer.Encode("a , un", options)->ids, (Ids{1, 7, 6, 2}));
  EXPECT_EQ(tokenizer.Encode("a , un", options)->cut_count, 1U);
  options.cut_side = EncodeOptions::Side::kLeft;
  EXPECT_EQ(tokenizer.Encode("a , un", options)->ids, (Ids{1, 6, 4, 2}));
}

TEST(Tokenizer, LeavesTheFrameOutWhenAsked) {
  EXPECT_EQ(Loaded().Encode("a", {.adds_special_tokens = false})->ids, (Ids{7}));
}

TEST(Tokenizer, RefusesARowWithoutRoomForItsFrame) {
  EXPECT_EQ(Loaded().Encode("a", {.max_tokens = 1}).status().message(),
            "a row of 1 tokens has no room for 2 special ones");
  EXPECT_EQ(Loaded().Encode("a", {.max_tokens = 2})->ids, (Ids{1, 2}));
}

TEST(Tokenizer, RefusesATextBeyondItsBound) {
  const Tokenizer tokenizer = Loaded();
  EXPECT_TRUE(tokenizer.Encode(std::string(kMaxTextBytes, 'a'), {}).ok());
  EXPECT_EQ(tokenizer.Encode(std::string(kMaxTextBytes + 1, 'a'), {}).status().message(),
            "the text has 1048577 bytes, more than 1048576");
}

TEST(Tokenizer, TakesAnEmptyText) { EXPECT_EQ(Loaded().Encode("", {})->ids, (Ids{1, 2})); }

TEST(Tokenizer, BoundsTheIdsOfItsTokens) {
  EXPECT_EQ(Loaded().id_bound(), 8);
  std::string gap = kJson;
  gap.replace(gap.find("\"a\": 7"), 6, "\"a\": 9");
  EXPECT_EQ(Tokenizer::Load(gap)->id_bound(), 10);
  std::string json = kJson;
  json.replace(json.find("\"id\": 3"), 7, "\"id\": 8");
  json.replace(json.find("[MASK]"), 6, "[MORE]");
  const auto tokenizer = Tokenizer::Load(json).value();
  EXPECT_EQ(tokenizer.id_bound(), 9);
}

TEST(Tokenizer, RefusesPartsThatItDoesNotKnowByName) {
  EXPECT_EQ(LoadError("\"BertNormalizer\"", "\"Zorn\""),
            "normalizer: the type 'Zorn' is not known");
  EXPECT_EQ(LoadError("\"BertPreTokenizer\"", "\"Zorn\""),
            "pre_tokenizer: the type 'Zorn' is not known");
  EXPECT_EQ(LoadError("\"BertProcessing\"", "\"Zorn\""),
            "post_processor: the type 'Zorn' is not known");
  EXPECT_EQ(LoadError("\"WordPiece\"", "\"Zorn\""), "model: the type 'Zorn' is not known");
  EXPECT_EQ(LoadError("\"version\"", "\"zorn\""), "tokenizer.json: 'zorn' is not known");
}

TEST(Tokenizer, RefusesTokensAndWordsThatWouldTakeTooLong) {
  EXPECT_EQ(LoadError("\"un\"", "\"" + std::string(512, 'u') + "\""), "");
  EXPECT_EQ(LoadError("\"un\"", "\"" + std::string(513, 'u') + "\""),
            "model: the token 4 has more than 512 bytes");
  EXPECT_EQ(LoadError("\"vocab\"", "\"max_input_chars_per_word\": 1000, \"vocab\""), "");
  EXPECT_EQ(LoadError("\"vocab\"", "\"max_input_chars_per_word\": 1001, \"vocab\""),
            "model: 'max_input_chars_per_word' must be a number of 0 to 1000");
}

TEST(Tokenizer, RefusesAFrameWithAnIdThatIsNoTokens) {
  EXPECT_EQ(LoadError("\"[SEP]\", 2]", "\"[SEP]\", 7]"), "");
  EXPECT_EQ(LoadError("\"[SEP]\", 2]", "\"[SEP]\", 8]"), "post_processor: the id 8 is no token's");
}

TEST(Tokenizer, RefusesAMetaspaceThatContradictsItself) {
  const std::string part = R"({"type": "BertPreTokenizer"})";
  EXPECT_EQ(LoadError(part, R"({"type": "Metaspace", "add_prefix_space": false})"), "");
  EXPECT_EQ(LoadError(part, R"({"type": "Metaspace", "add_prefix_space": false,
                                "prepend_scheme": "always"})"),
            "pre_tokenizer: 'add_prefix_space' and the prepend_scheme contradict each other");
}

TEST(Tokenizer, RefusesAnAddedTokenWhoseIdIsNotItsPlace) {
  EXPECT_EQ(LoadError("\"id\": 3", "\"id\": 4"),
            "added_tokens: '[MASK]' has the id 4, but 3 is its place");
}

}  // namespace
}  // namespace mpsd::text

#include "text/tokenizer/tokenizer_document.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "text/subword/vocabulary_trie.h"
#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd::text {
namespace {

std::string ErrorOf(const std::string& json) {
  TokenizerDocument document;
  return std::string(ParseDocument(json, "t.json", &document).message());
}

std::string OfModel(const std::string& members) { return R"({"model": {)" + members + "}}"; }

// `count` times `entry`, as an array.
std::string ArrayOf(const std::string& entry, size_t count) {
  std::string json = "[";
  for (size_t i = 0; i < count; ++i) absl::StrAppend(&json, i > 0 ? "," : "", entry);
  return json + "]";
}

// So many tokens of so many bytes, all others than the others, as an object.
std::string TokensOf(size_t count, size_t bytes) {
  std::string json = "{";
  for (size_t i = 0; i < count; ++i) {
    std::string token = absl::StrCat(i);
    token.resize(std::max(bytes, token.size()), 'x');
    absl::StrAppend(&json, i > 0 ? "," : "", "\"", token, "\":", i);
  }
  return json + "}";
}

// The type that a model without one is taken for.
std::string TypeOf(const std::string& members) {
  TokenizerDocument document;
  EXPECT_TRUE(ParseDocument(OfModel(members), "t.json", &document).ok()) << members;
  return document.parts["model"]["type"].get<std::string>();
}

TEST(TokenizerDocument, HasTheListsOfAModelBesideItsParts) {
  TokenizerDocument document;
  ASSERT_TRUE(ParseDocument(R"({"normalizer": {"vocab": {"x": [1, null]}, "merges": [true]},
      "model": {"type": "BPE", "vocab": {"a": 0, "b\u00e9": 7}, "merges": ["a b", ["c d", ""]],
                "other": {"vocab": [1]}}, "last": -1.5})",
                            "t.json", &document)
                  .ok());
  EXPECT_EQ(document.parts,
            Json::parse(R"({"normalizer": {"vocab": {"x": [1, null]}, "merges": [true]},
      "model": {"type": "BPE", "vocab": true, "merges": true, "other": {"vocab": [1]}},
      "last": -1.5})"));
  EXPECT_EQ(document.form, VocabularyForm::kObject);
  ASSERT_EQ(document.tokens.size(), 2u);
  EXPECT_EQ(document.tokens[0], "a");
  EXPECT_EQ(document.tokens[1], "b\u00e9");
  EXPECT_EQ(document.ids, (std::vector<int32_t>{0, 7}));
  ASSERT_EQ(document.merges.size(), 4u);
  EXPECT_EQ(document.merges[1], "b");
  EXPECT_EQ(document.merges[2], "c d");
  EXPECT_EQ(document.merges[3], "");
}

TEST(TokenizerDocument, HasScoresOfWholeAndBrokenNumbers) {
  TokenizerDocument document;
  ASSERT_TRUE(
      ParseDocument(OfModel(R"("vocab": [["a", 0], ["b", -2], ["c", -1.5]])"), "t.json", &document)
          .ok());
  EXPECT_EQ(document.form, VocabularyForm::kArray);
  EXPECT_EQ(document.tokens[2], "c");
  EXPECT_EQ(document.scores, (std::vector<double>{0, -2, -1.5}));
}

// As the reference takes it, which tries them in this order.
TEST(TokenizerDocument, AModelWithoutATypeIsKnownByItsMembers) {
  EXPECT_EQ(TypeOf(R"("vocab": {"a": 0}, "merges": [])"), "BPE");
  EXPECT_EQ(TypeOf(R"("merges": [], "vocab": {"a": 0})"), "BPE");
  const std::string word_piece =
      R"("unk_token": "a", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9, )";
  EXPECT_EQ(TypeOf(word_piece + R"("vocab": {"a": 0})"), "WordPiece");
  EXPECT_EQ(TypeOf(word_piece + R"("vocab": {"a": 0}, "merges": [])"), "BPE");
  EXPECT_EQ(TypeOf(R"("unk_token": "a", "vocab": {"a": 0})"), "WordLevel");
  EXPECT_EQ(TypeOf(R"("vocab": [["a", 0]])"), "Unigram");
  EXPECT_EQ(TypeOf(R"("merges": [])"), "");
  EXPECT_EQ(TypeOf(R"("type": "Morse", "vocab": {"a": 0}, "merges": [])"), "Morse");
}

TEST(TokenizerDocument, EntriesThatAreMalformed) {
  for (const char* id : {"-1", "2097153", "1.5", "\"1\"", "null", "true", "[1]", "{}"}) {
    EXPECT_EQ(ErrorOf(OfModel(absl::StrCat(R"("vocab": {"a": 0, "b": )", id, "}"))),
              "model: the token 'b' has a wrong id");
  }
  for (const char* pair : {"1", "\"a\"", "[]", "[\"a\"]", "[1, \"a\"]", "[\"a\", 1, 2]", "{}",
                           "[[\"a\", 1]]", "[\"a\", null]", "[\"a\", \"b\"]"}) {
    const std::string error = ErrorOf(OfModel(absl::StrCat(R"("vocab": [["a", 0], )", pair, "]")));
    EXPECT_EQ(error.rfind("model: the token ", 0), 0u) << pair << ": " << error;
  }
  for (const char* merge : {"1", "\"a\"", "\"a b c\"", "[]", "[\"a\"]", "[\"a\", 1]", "{}",
                            "[\"a\", \"b\", \"c\"]", "[[\"a\", \"b\"]]", "null"}) {
    EXPECT_EQ(ErrorOf(OfModel(absl::StrCat(R"("merges": ["a b", )", merge, "]"))),
              "model: the merge 1 is no pair of tokens")
        << merge;
  }
  EXPECT_EQ(ErrorOf(OfModel(R"("merges": {"a": "b"})")), "model: 'merges' must be an array");
}

TEST(TokenizerDocument, AListIsThereOnce) {
  EXPECT_EQ(ErrorOf(OfModel(R"("vocab": {}, "vocab": {})")), "model: 'vocab' is there twice");
  EXPECT_EQ(ErrorOf(R"({"model": {"merges": []}, "model": {"merges": []}})"),
            "model: 'merges' is there twice");
}

TEST(TokenizerDocument, WhatIsNoObject) {
  for (const char* json : {"", "[]", "1", "{", "{\"a\": NaN}", "{\"a\": 1e999}",
                           "{\"a\": \"\xff\"}", "{\"model\": {\"vocab\": {\"a\": 1}"}) {
    EXPECT_EQ(ErrorOf(json), "t.json: it is no JSON object") << json;
  }
  EXPECT_EQ(ErrorOf("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}"),
            "t.json: it is too deep");
}

// ---- bounds: each is passed by one ----

TEST(TokenizerBounds, Bytes) {
  EXPECT_EQ(ErrorOf(std::string(kMaxTokenizerBytes + 1, ' ')),
            "t.json: it has more than 67108864 bytes");
}

TEST(TokenizerBounds, Tokens) {
  EXPECT_EQ(ErrorOf(OfModel("\"vocab\": " + TokensOf(kMaxTokens, 1))), "");
  EXPECT_EQ(ErrorOf(OfModel("\"vocab\": " + TokensOf(kMaxTokens + 1, 1))),
            "model: 'vocab' has too many tokens");
  EXPECT_EQ(ErrorOf(OfModel("\"vocab\": " + ArrayOf("[\"a\",0]", kMaxTokens + 1))),
            "model: 'vocab' has too many tokens");
}

TEST(TokenizerBounds, BytesOfTokens) {
  EXPECT_EQ(ErrorOf(OfModel("\"vocab\": " + TokensOf(kMaxVocabularyBytes / 512, 512))), "");
  EXPECT_EQ(ErrorOf(OfModel("\"vocab\": " + TokensOf(kMaxVocabularyBytes / 512 + 1, 512))),
            "model: 'vocab' has too many bytes");
}

TEST(TokenizerBounds, Merges) {
  EXPECT_EQ(ErrorOf(OfModel("\"merges\": " + ArrayOf("\"a b\"", kMaxMerges))), "");
  EXPECT_EQ(ErrorOf(OfModel("\"merges\": " + ArrayOf("\"a b\"", kMaxMerges + 1))),
            "model: there are too many 'merges'");
  EXPECT_EQ(ErrorOf(OfModel("\"merges\": " + ArrayOf("[\"a\",\"b\"]", kMaxMerges + 1))),
            "model: there are too many 'merges'");
}

TEST(TokenizerBounds, BytesOfMerges) {
  const std::string merge = absl::StrCat("[\"", std::string(512, 'a'), "\",\"\"]");
  EXPECT_EQ(ErrorOf(OfModel("\"merges\": " + ArrayOf(merge, kMaxMergesBytes / 512))), "");
  EXPECT_EQ(ErrorOf(OfModel("\"merges\": " + ArrayOf(merge, kMaxMergesBytes / 512 + 1))),
            "model: 'merges' have too many bytes");
}

TEST(TokenizerBounds, Steps) {
  EXPECT_EQ(ErrorOf(R"({"normalizer": {"type": "Sequence", "normalizers": )" +
                    ArrayOf(R"({"type": "NFC"})", 200'000) + "}}"),
            "t.json: 'normalizer' has too many values");
  EXPECT_EQ(ErrorOf(R"({"model": )" + ArrayOf("0", 200'000) + "}"),
            "t.json: 'model' has too many values");
}

TEST(TokenizerBounds, AddedTokens) {
  const std::string token = R"({"id": 1, "content": "a", "single_word": false, "lstrip": false,
      "rstrip": false, "normalized": false, "special": true})";
  EXPECT_EQ(ErrorOf(R"({"added_tokens": )" + ArrayOf(token, kMaxAddedTokens) + "}"), "");
  EXPECT_EQ(ErrorOf(R"({"added_tokens": )" + ArrayOf(token, 2 * kMaxAddedTokens) + "}"),
            "t.json: 'added_tokens' has too many values");
}

}  // namespace
}  // namespace mpsd::text

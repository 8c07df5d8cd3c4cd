#include "server/texts/text_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "server/request/too_long.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kWords[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\n";

TextEncoder EncoderOf(const TextPolicy& policy) {
  return TextEncoder(*text::Tokenizer::FromVocabulary(kWords, /*lowers_case=*/true), policy);
}

// A folder of its own for each test.
class TextEncoderLoadTest : public testing::Test {
 protected:
  TextEncoderLoadTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TextEncoderLoadTest() override { std::filesystem::remove_all(folder_); }

  // The policy of a tokenizer of this file.
  TextPolicy Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    TextPolicy policy;
    policy.tokenizer = folder_ / name;
    return policy;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(TextEncoderLoadTest, OfAVocabularyInTheCaseThatItsFolderSays) {
  const TextPolicy policy = Write("vocab.txt", kWords);
  auto encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_THAT((*encoder)->Encode("A b", {}, 512)->ids, ElementsAre(2, 4, 5, 3));
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_THAT((*encoder)->Encode("A b", {}, 512)->ids, ElementsAre(2, 1, 5, 3));
}

TEST_F(TextEncoderLoadTest, AllTypesAre0IfTheFolderNamesNone) {
  const TextPolicy policy = Write("vocab.txt", kWords);
  const auto types = [&](const std::string& names) {
    Write("tokenizer_config.json", "{\"model_input_names\": " + names + "}");
    return (*TextEncoder::Load(policy))->Encode("a", "b", 512)->type_ids;
  };
  EXPECT_THAT(types(R"(["input_ids", "attention_mask"])"), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(types(R"(["input_ids", "token_type_ids"])"), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(types("null"), ElementsAre(0, 0, 0, 1, 1));
}

TEST_F(TextEncoderLoadTest, CutsTheSideThatTheFolderSaysUnlessThePolicySaysOne) {
  TextPolicy policy = Write("vocab.txt", kWords);
  const auto ids = [&](const std::string& side) {
    Write("tokenizer_config.json", "{\"truncation_side\": " + side + "}");
    return (*TextEncoder::Load(policy))->Encode("a b c", {}, 4)->ids;
  };
  EXPECT_THAT(ids(R"("left")"), ElementsAre(2, 5, 6, 3));
  EXPECT_THAT(ids(R"("right")"), ElementsAre(2, 4, 5, 3));
  EXPECT_THAT(ids("null"), ElementsAre(2, 4, 5, 3));
  policy.cut_side = TextSide::kRight;
  EXPECT_THAT(ids(R"("left")"), ElementsAre(2, 4, 5, 3));
}

TEST_F(TextEncoderLoadTest, RefusesTokensThatAreAddedToAVocabulary) {
  const TextPolicy policy = Write("vocab.txt", kWords);
  const auto error = [&] { return std::string(TextEncoder::Load(policy).status().message()); };
  Write("added_tokens.json", R"({"[SEP]": 3})");
  Write("tokenizer_config.json", R"({"additional_special_tokens": ["[CLS]"],
      "added_tokens_decoder": {"2": {"content": "[CLS]", "special": true}}})");
  EXPECT_EQ(error(), "");
  Write("tokenizer_config.json", R"({"added_tokens_decoder": {"7": {"content": "[E1]"}}})");
  EXPECT_THAT(error(), HasSubstr("tokenizer_config.json: '[E1]' is added"));
  Write("tokenizer_config.json", R"({"additional_special_tokens": ["[E2]"]})");
  EXPECT_THAT(error(), HasSubstr("tokenizer_config.json: '[E2]' is added"));
  Write("added_tokens.json", R"({"[E3]": 7})");
  EXPECT_THAT(error(), HasSubstr("added_tokens.json: '[E3]' is added"));
}

TEST_F(TextEncoderLoadTest, RefusesAVocabularyOfAnotherClass) {
  const TextPolicy policy = Write("vocab.txt", kWords);
  const auto error = [&] { return std::string(TextEncoder::Load(policy).status().message()); };
  Write("config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  EXPECT_THAT(error(), HasSubstr("config.json: 'tokenizer_class' is 'BertJapaneseTokenizer'"));
  Write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizerFast"})");
  EXPECT_EQ(error(), "");
  Write("tokenizer_config.json", R"({"tokenizer_class": "RoFormerTokenizer"})");
  EXPECT_THAT(error(), HasSubstr("tokenizer_config.json: 'tokenizer_class' is 'RoFormer"));
  Write("tokenizer_config.json", "{}");
  Write("config.json", "// no JSON");
  EXPECT_EQ(error(), "");
}

TEST_F(TextEncoderLoadTest, OfATokenizerJson) {
  const auto encoder = TextEncoder::Load(Write("tokenizer.json",
                                               R"({"pre_tokenizer": {"type": "WhitespaceSplit"},
          "model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2}}})"));
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_THAT((*encoder)->Encode("b a x", {}, 512)->ids, ElementsAre(2, 1, 0));
}

TEST_F(TextEncoderLoadTest, RefusesASettingBesideThatContradicts) {
  const TextPolicy policy = Write("tokenizer.json",
                                  R"({"normalizer": {"type": "BertNormalizer"},
          "model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0}}})");
  EXPECT_TRUE(TextEncoder::Load(policy).ok());
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_THAT(std::string(TextEncoder::Load(policy).status().message()),
              HasSubstr("tokenizer_config.json: 'do_lower_case' must be as"));
}

// The words of a chat reranker; the others are 0.
constexpr char kChatWords[] = R"({"pre_tokenizer": {"type": "WhitespaceSplit"},
    "model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "<Instruct>:": 1,
      "<Query>:": 2, "<Document>:": 3, "q": 4, "d": 5, "judge": 6, "<|im_start|>user": 7,
      "<|im_start|>assistant": 8}}})";

std::vector<int32_t> Zeros(size_t count) { return std::vector<int32_t>(count, 0); }

std::vector<int32_t> Joined(std::initializer_list<std::vector<int32_t>> parts) {
  std::vector<int32_t> all;
  for (const std::vector<int32_t>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_F(TextEncoderLoadTest, OfAChatRerankerPutsAPairIntoItsWords) {
  const TextPolicy policy = Write("tokenizer.json", kChatWords);
  Write("config.json", R"({"architectures": ["Qwen3ForCausalLM"]})");
  auto encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  const std::vector<int32_t> before = Joined({Zeros(26), {7}});
  const std::vector<int32_t> behind = {0, 8, 0, 0};
  const auto row = (*encoder)->Encode("q", "d d d", 512);
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->ids, Joined({before, {1}, Zeros(12), {2, 4, 3, 5, 5, 5}, behind}));
  EXPECT_EQ(row->type_ids.size(), row->ids.size());
  const auto cut = (*encoder)->Encode("q", "d d d", row->ids.size() - 2);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->ids, Joined({before, {1}, Zeros(12), {2, 4, 3, 5}, behind}));
  EXPECT_EQ(cut->cut_count, 2u);
  EXPECT_EQ((*encoder)->Encode("q", "d", 31).status().message(),
            "the words around a pair are 31 tokens, but a row has at most 31");
  EXPECT_EQ((*encoder)->Encode("q", {}, 512).status().message(),
            "it stands alone, but this model scores pairs of texts");

  Write("config_sentence_transformers.json",
        R"({"prompts": {"own": "judge"}, "default_prompt_name": "own"})");
  Write("modules.json", R"([{"type": "a.Transformer"}, {"type": "b.LogitScore"}])");
  encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_EQ((*encoder)->Encode("q", "d", 512)->ids, Joined({before, {1, 6, 2, 4, 3, 5}, behind}));
}

TEST_F(TextEncoderLoadTest, OfAnEmbedderThatWasAChatModelHasNoSuchWords) {
  const TextPolicy policy = Write("tokenizer.json", kChatWords);
  Write("config.json", R"({"architectures": ["Qwen3ForCausalLM"]})");
  Write("modules.json", R"([{"type": "a.Transformer"}, {"type": "b.Pooling"}])");
  const auto encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_THAT((*encoder)->Encode("q", "d", 512)->ids, ElementsAre(4, 5));
  EXPECT_THAT((*encoder)->Encode("q", {}, 512)->ids, ElementsAre(4));
}

TEST_F(TextEncoderLoadTest, APipeIsNoFile) {
  const TextPolicy policy = Write("vocab.txt", kWords);
  ASSERT_EQ(mkfifo((folder_ / "tokenizer_config.json").c_str(), 0600), 0);
  EXPECT_THAT(std::string(TextEncoder::Load(policy).status().message()),
              HasSubstr("tokenizer_config.json: is no file"));
  TextPolicy pipe;
  pipe.tokenizer = folder_ / "tokenizer_config.json";
  EXPECT_THAT(std::string(TextEncoder::Load(pipe).status().message()), HasSubstr("is no file"));
}

TEST_F(TextEncoderLoadTest, BesideModulesTextsLoseTheSpacesAtTheirEnds) {
  const TextPolicy policy = Write("tokenizer.json",
                                  R"({"model": {"type": "Unigram", "unk_id": 0,
          "vocab": [["?", 0], ["a", -1], [" ", -1], ["b", -1]]}})");
  auto encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_THAT((*encoder)->Encode(" a b ", {}, 512)->ids, ElementsAre(2, 1, 2, 3, 2));
  Write("modules.json", "[]");
  encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_THAT((*encoder)->Encode(" a b ", {}, 512)->ids, ElementsAre(1, 2, 3));
  EXPECT_THAT((*encoder)->Encode("a ", "\tb", 512)->ids, ElementsAre(1, 3));
  EXPECT_THAT((*encoder)->Tokenize(" a ", true)->ids, ElementsAre(1));
  Write("modules.json",
        R"([{"type": "sentence_transformers.base.modules.transformer.Transformer"}])");
  encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_THAT((*encoder)->Encode(" a b ", {}, 512)->ids, ElementsAre(2, 1, 2, 3, 2));
}

TEST_F(TextEncoderLoadTest, HasThePromptsBesideTheTokenizer) {
  const TextPolicy policy = Write("vocab.txt", kWords);
  Write("config_sentence_transformers.json", R"({"prompts": {"query": "a "}})");
  const auto encoder = TextEncoder::Load(policy);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_EQ(*(*encoder)->prompts().Find("query"), "a ");
  Write("config_sentence_transformers.json", R"({"prompts": {"query": 1}})");
  EXPECT_THAT(std::string(TextEncoder::Load(policy).status().message()),
              HasSubstr("config_sentence_transformers.json: 'prompts': 'query' must be a text"));
}

TEST_F(TextEncoderLoadTest, NamesTheFileThatCannotBeUsed) {
  TextPolicy policy = Write("tokenizer.json", R"({"model": {"type": "Morse"}})");
  EXPECT_THAT(std::string(TextEncoder::Load(policy).status().message()),
              HasSubstr("tokenizer.json: model: the type 'Morse' is not known"));
  policy.tokenizer += ".missing";
  EXPECT_EQ(TextEncoder::Load(policy).status().code(), absl::StatusCode::kNotFound);
}

TEST(TextEncoder, CutsAtTheSmallerOfTheModelsAndThePolicysLength) {
  TextPolicy policy;
  EXPECT_THAT(EncoderOf(policy).Encode("a b c", {}, 4)->ids, ElementsAre(2, 4, 5, 3));
  policy.max_tokens = 3;
  EXPECT_THAT(EncoderOf(policy).Encode("a b c", {}, 4)->ids, ElementsAre(2, 4, 3));
  EXPECT_EQ(EncoderOf(policy).Encode("a b c", {}, 4)->cut_count, 2u);
  policy.max_tokens = 300;
  EXPECT_THAT(EncoderOf(policy).Encode("a b c", {}, 4)->ids, ElementsAre(2, 4, 5, 3));
}

TEST(TextEncoder, CutsTheSideThatThePolicySays) {
  TextPolicy policy;
  policy.cut_side = TextSide::kLeft;
  EXPECT_THAT(EncoderOf(policy).Encode("a b c", {}, 4)->ids, ElementsAre(2, 5, 6, 3));
}

TEST(TextEncoder, RefusesLongTextsWherePolicySaysError) {
  TextPolicy policy;
  policy.long_input = LongInput::kError;
  EXPECT_TRUE(EncoderOf(policy).Encode("a b c", {}, 5).ok());
  const absl::Status status = EncoderOf(policy).Encode("a b c", {}, 4).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "it has 5 tokens, but at most 4 are served");
  EXPECT_TRUE(IsTooLong(status));
}

TEST(TextEncoder, PairsHaveBothTextsAndTheirTypes) {
  const auto row = EncoderOf({}).Encode("a", "b c", 512);
  ASSERT_TRUE(row.ok());
  EXPECT_THAT(row->ids, ElementsAre(2, 4, 3, 5, 6, 3));
  EXPECT_THAT(row->type_ids, ElementsAre(0, 0, 0, 1, 1, 1));
}

TEST(TextEncoder, WhatAClientWishesGoesBeforeThePolicy) {
  TextPolicy policy;
  TextWishes wishes;
  wishes.cut_side = TextSide::kLeft;
  EXPECT_THAT(EncoderOf(policy).Encode("a b c", {}, 4, wishes)->ids, ElementsAre(2, 5, 6, 3));
  wishes.long_input = LongInput::kError;
  EXPECT_TRUE(IsTooLong(EncoderOf(policy).Encode("a b c", {}, 4, wishes).status()));
  policy.long_input = LongInput::kError;
  wishes.long_input = LongInput::kTruncate;
  EXPECT_TRUE(EncoderOf(policy).Encode("a b c", {}, 4, wishes).ok());
}

}  // namespace
}  // namespace mpsd

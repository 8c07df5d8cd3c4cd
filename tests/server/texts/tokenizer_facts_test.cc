#include "server/texts/tokenizer_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "server/request/text_policy.h"
#include "server/texts/text_encoder.h"

namespace mpsd {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

class TokenizerFactsTest : public testing::Test {
 protected:
  TokenizerFactsTest() { std::filesystem::create_directory(folder_); }
  ~TokenizerFactsTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + "/" + name, std::ios::trunc) << content;
    return folder_ + "/" + name;
  }

  const std::string folder_ = testing::TempDir() + "/tokenizer_facts." + std::to_string(getpid());
};

TEST_F(TokenizerFactsTest, OfATokenizerJson) {
  const std::string path = Write("tokenizer.json", R"({
    "truncation": {"max_length": 128, "strategy": "LongestFirst", "stride": 0},
    "added_tokens": [{"id": 0, "content": "[UNK]", "special": true},
                     {"id": 3, "content": "[M]", "special": true}],
    "post_processor": {"type": "RobertaProcessing", "cls": ["[M]", 3], "sep": ["b", 2],
                       "trim_offsets": true, "add_prefix_space": true},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1, "b": 2}}})");
  EXPECT_EQ(TokenizerFacts(path),
            ordered_json(
                {{"file", path},
                 {"kind", "WordPiece"},
                 {"pieces", 4},
                 {"id_bound", 4},
                 {"special_tokens", {{{"token", "[M]"}, {"id", 3}}, {{"token", "b"}, {"id", 2}}}},
                 {"text_row", "[M] A b"},
                 {"pair_row", "[M] A b b B b"},
                 {"long_input", "truncate"},
                 {"cut_side", "right"},
                 {"unheeded_length", 128},
                 {"prompts", ordered_json::object()},
                 {"default_prompt", nullptr}}));
}

TEST_F(TokenizerFactsTest, PartsThatAreNotThereAddNothing) {
  const std::string path = Write("tokenizer.json",
                                 R"({"truncation": {"max_length": {"of": 1}}, "model":
                                     {"type": "Unigram", "unk_id": 0, "vocab": [["u", 0.0]]}})");
  const ordered_json facts = TokenizerFacts(path);
  EXPECT_EQ(facts["kind"], "Unigram");
  EXPECT_EQ(facts["special_tokens"], ordered_json::array());
  EXPECT_EQ(facts["text_row"], "A");
  EXPECT_EQ(facts["pair_row"], "A B");
  EXPECT_EQ(facts["unheeded_length"], nullptr);
}

TEST_F(TokenizerFactsTest, OfAGapInTheIdsThereIsNoPiece) {
  const std::string path =
      Write("tokenizer.json",
            R"({"model": {"type": "WordPiece", "unk_token": "u", "vocab": {"u": 0, "a": 7}}})");
  EXPECT_EQ(TokenizerFacts(path)["pieces"], 2);
  EXPECT_EQ(TokenizerFacts(path)["id_bound"], 8);
}

TEST_F(TokenizerFactsTest, OfAVocabularyAreBerts) {
  const ordered_json facts = TokenizerFacts(Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n"));
  EXPECT_EQ(facts["kind"], "WordPiece");
  EXPECT_EQ(facts["pieces"], 5);
  EXPECT_EQ(facts["pair_row"], "[CLS] A [SEP] B [SEP]");
  EXPECT_EQ(facts["unheeded_length"], nullptr);
}

TEST_F(TokenizerFactsTest, PromptsAreThoseBesideTheFile) {
  const std::string path = Write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n");
  Write("config_sentence_transformers.json",
        R"({"prompts": {"query": "find:\n", "document": ""}, "default_prompt_name": "query"})");
  const ordered_json facts = TokenizerFacts(path);
  EXPECT_EQ(facts["prompts"], ordered_json({{"document", ""}, {"query", "find:\n"}}));
  EXPECT_EQ(facts["default_prompt"], "query");
}

TEST_F(TokenizerFactsTest, OfOneThatIsRefusedAreWhy) {
  for (const char* content : {R"({"model": {"type": "WordLevel"}})", "{", ""}) {
    TextPolicy policy;
    policy.tokenizer = Write("tokenizer.json", content);
    const ordered_json facts = TokenizerFacts(policy.tokenizer);
    EXPECT_EQ(facts, ordered_json(
                         {{"file", policy.tokenizer},
                          {"refused", std::string(TextEncoder::Load(policy).status().message())}}));
    EXPECT_THAT(facts["refused"].get<std::string>(), HasSubstr(policy.tokenizer));
  }
}

TEST_F(TokenizerFactsTest, WhatStandsBesideMayBeWhatIsRefused) {
  const std::string path = Write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n");
  Write("config_sentence_transformers.json", R"({"prompts": 1})");
  EXPECT_THAT(TokenizerFacts(path)["refused"].get<std::string>(),
              HasSubstr("config_sentence_transformers.json: 'prompts' must be an object of texts"));
}

}  // namespace
}  // namespace mpsd

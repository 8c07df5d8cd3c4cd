#include "server/texts/letter_case.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

LetterCase Told(const TokenizerFiles& files) {
  const absl::StatusOr<LetterCase> told = LetterCaseOf(files);
  EXPECT_TRUE(told.ok()) << told.status();
  return told.value_or(LetterCase::kLower);
}

std::string Refusal(const TokenizerFiles& files) {
  return std::string(LetterCaseOf(files).status().message());
}

TEST(LetterCase, IsLowerWhereNoFileSaysAnything) {
  EXPECT_EQ(Told({}), LetterCase::kLower);
  EXPECT_EQ(Told({R"({"model_max_length": 512})", "{}", "{}"}), LetterCase::kLower);
}

TEST(LetterCase, FollowsTheConfigOfTheTokenizer) {
  EXPECT_EQ(Told({R"({"do_lower_case": false, "strip_accents": null})", "", ""}),
            LetterCase::kKept);
  EXPECT_EQ(Told({R"({"do_lower_case": true, "strip_accents": true})", "", ""}),
            LetterCase::kLower);
}

TEST(LetterCase, FollowsTheNormalizerWhereTheConfigIsSilent) {
  const std::string cased =
      R"({"normalizer": {"type": "BertNormalizer", "lowercase": false, "strip_accents": null}})";
  EXPECT_EQ(Told({"", cased, ""}), LetterCase::kKept);
  EXPECT_EQ(Told({R"({"do_lower_case": true})", cased, ""}), LetterCase::kLower);
}

TEST(LetterCase, RefusesByNameWhatItCannotDo) {
  EXPECT_EQ(Refusal({R"({"do_lower_case": true, "strip_accents": false})", "", ""}),
            "tokenizer_config.json: 'strip_accents' must be as 'do_lower_case' is");
  EXPECT_EQ(Refusal({R"({"strip_accents": false})", "", ""}),
            "tokenizer_config.json: 'strip_accents' must be as 'do_lower_case' is");
  EXPECT_EQ(
      Refusal({"", R"({"normalizer": {"type": "BertNormalizer", "strip_accents": false}})", ""}),
      "tokenizer.json: 'strip_accents' must be as 'lowercase' is");
  EXPECT_EQ(Refusal({std::string(40, '['), "", ""}), "tokenizer_config.json: it is too deep");
  EXPECT_EQ(Refusal({R"({"do_lower_case": false, "tokenize_chinese_chars": false})", "", ""}),
            "tokenizer_config.json: 'tokenize_chinese_chars' must be true");
  EXPECT_EQ(Refusal({R"({"do_lower_case": 1})", "", ""}),
            "tokenizer_config.json: 'do_lower_case' must be true or false");
  EXPECT_EQ(Refusal({"[]", "", ""}), "tokenizer_config.json: it is no JSON object");
  EXPECT_EQ(Refusal({"", R"({"normalizer": {"type": "NFC"}})", ""}),
            "tokenizer.json: its normalizer must be a BertNormalizer");
  EXPECT_EQ(Refusal({R"({"do_lower_case": false})", "", R"({"do_lower_case": true})"}),
            "sentence_bert_config.json: 'do_lower_case' must be false for a cased vocabulary");
}

// The objection to settings beside a BertNormalizer with these keys.
std::string Against(const std::string& normalizer, const std::string& config,
                    const std::string& sentence_config = "") {
  const std::string tokenizer = R"({"normalizer": {"type": "BertNormalizer")" + normalizer + "}}";
  return std::string(CheckSettings({config, tokenizer, sentence_config}).message());
}

TEST(LetterCase, SettingsBesideATokenizerJsonMayAgree) {
  EXPECT_EQ(Against("", ""), "");
  EXPECT_EQ(Against("", R"({"do_lower_case": true, "strip_accents": null})"), "");
  EXPECT_EQ(Against(R"(, "lowercase": false)", R"({"do_lower_case": false})"), "");
  EXPECT_EQ(Against(R"(, "lowercase": false)", R"({"tokenizer_class": "PreTrainedTokenizerFast",
                    "do_lower_case": true})"),
            "");
  EXPECT_EQ(Against("", "", R"({"do_lower_case": true})"), "");
}

TEST(LetterCase, SettingsBesideATokenizerJsonThatContradictAreRefused) {
  EXPECT_EQ(Against("", R"({"do_lower_case": false})"),
            "tokenizer_config.json: 'do_lower_case' must be as 'lowercase' in tokenizer.json is");
  EXPECT_EQ(Against("", R"({"strip_accents": false})"),
            "tokenizer_config.json: 'strip_accents' must be as in tokenizer.json");
  EXPECT_EQ(Against(R"(, "strip_accents": false)", R"({"do_lower_case": true})"),
            "tokenizer_config.json: 'strip_accents' must be as in tokenizer.json");
  EXPECT_EQ(Against("", R"({"tokenize_chinese_chars": false})"),
            "tokenizer_config.json: 'tokenize_chinese_chars' must be as 'handle_chinese_chars' in "
            "tokenizer.json is");
  EXPECT_EQ(Against(R"(, "lowercase": false)", "", R"({"do_lower_case": true})"),
            "sentence_bert_config.json: 'do_lower_case' must be false for a cased vocabulary");
}

TEST(LetterCase, OtherNormalizersAreAsTheyStand) {
  const std::string sequence =
      R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}]}})";
  EXPECT_TRUE(CheckSettings({R"({"do_lower_case": false})", sequence, ""}).ok());
  EXPECT_TRUE(CheckSettings({"", sequence, R"({"do_lower_case": true})"}).ok());
  EXPECT_FALSE(CheckSettings({"", R"({"normalizer": null})", R"({"do_lower_case": true})"}).ok());
}

}  // namespace
}  // namespace mpsd

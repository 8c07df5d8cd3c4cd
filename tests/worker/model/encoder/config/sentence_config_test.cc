#include "worker/model/encoder/config/sentence_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

template <typename Parsed>
std::string ErrorOf(const Parsed& parsed) {
  return parsed.ok() ? "it parsed" : std::string(parsed.status().message());
}

// A modules.json of these kinds; the encoder's path is empty, others' are "x".
std::string Modules(std::initializer_list<const char*> kinds) {
  std::string text = "[";
  for (const char* kind : kinds) {
    const char* path = text == "[" ? "" : "x";
    absl::StrAppend(&text, text == "[" ? "" : ",", R"({"type": "sentence_transformers.models.)",
                    kind, R"(", "path": ")", path, "\"}");
  }
  return text + "]";
}

TEST(SentenceConfig, TakesOneOfFourPoolings) {
  EXPECT_EQ(ParsePooling(R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false})")
                .value(),
            Pooling::kMean);
  EXPECT_EQ(ParsePooling(R"({"pooling_mode_cls_token": true})").value(), Pooling::kFirst);
  EXPECT_EQ(ParsePooling(R"({"pooling_mode_lasttoken": true})").value(), Pooling::kLast);
  EXPECT_EQ(ParsePooling(R"({"pooling_mode_max_tokens": true})").value(), Pooling::kMax);
  EXPECT_EQ(ParsePooling(R"({"pooling_mode": "mean"})").value(), Pooling::kMean);
}

TEST(SentenceConfig, NamesAPoolingThatItDoesNotKnow) {
  EXPECT_THAT(ErrorOf(ParsePooling(R"({"pooling_mode_weightedmean_tokens": true})")),
              HasSubstr("the model pools by weightedmean_tokens"));
  EXPECT_THAT(ErrorOf(ParsePooling(
                  R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})")),
              HasSubstr("the model pools by cls_token and mean_tokens"));
  EXPECT_THAT(ErrorOf(ParsePooling("{}")), HasSubstr("pools by no mode"));
  EXPECT_THAT(ErrorOf(ParsePooling(R"({"pooling_mode_cls_token": true, "include_prompt": false})")),
              HasSubstr("'include_prompt'"));
}

TEST(SentenceConfig, ReadsTheStepsInTheirOrder) {
  const auto steps =
      ParseSentenceSteps(Modules({"Transformer", "Pooling", "Dense", "Normalize", "Dense"}));
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_EQ(steps->size(), 4u);
  EXPECT_EQ((*steps)[1].kind, SentenceStep::kDense);
  EXPECT_EQ((*steps)[2].kind, SentenceStep::kNormalize);
  EXPECT_EQ((*steps)[1].folder, "x");
}

TEST(SentenceConfig, NamesAStepThatWouldBeLost) {
  EXPECT_THAT(ErrorOf(ParseSentenceSteps(Modules({"Transformer", "Pooling", "LayerNorm"}))),
              HasSubstr("the step LayerNorm would be lost"));
  EXPECT_THAT(ErrorOf(ParseSentenceSteps(Modules({"CLIPModel", "Pooling"}))),
              HasSubstr("the first step must be a Transformer"));
  EXPECT_THAT(ErrorOf(ParseSentenceSteps(Modules({"Transformer", "Normalize"}))),
              HasSubstr("Pooling must be the second"));
  EXPECT_THAT(ErrorOf(ParseSentenceSteps("{}")), HasSubstr("no JSON array"));
}

TEST(SentenceConfig, AnEncoderMayBeAlone) {
  EXPECT_TRUE(ParseSentenceSteps(Modules({"Transformer"})).value().empty());
}

TEST(SentenceConfig, TheWordsOfARerankerStandAlone) {
  const auto steps = ParseSentenceSteps(Modules({"Transformer", "LogitScore"}));
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_EQ(steps->size(), 1u);
  EXPECT_EQ(steps->front().kind, SentenceStep::kLogitScore);
  for (const auto& kinds : {Modules({"Transformer", "LogitScore", "Normalize"}),
                            Modules({"Transformer", "Pooling", "LogitScore"})}) {
    EXPECT_EQ(ErrorOf(ParseSentenceSteps(kinds)),
              "LogitScore must be the second step, and the last one");
  }
}

TEST(SentenceConfig, OtherWordsThanThoseOfQwen3RerankerAreRefused) {
  EXPECT_TRUE(CheckLogitScore(R"({"true_token_id": 9693, "false_token_id": 2152})").ok());
  EXPECT_EQ(CheckLogitScore(R"({"true_token_id": 9454, "false_token_id": 2152})").message(),
            "'true_token_id' is not 9693; mpsd knows the words of Qwen3-Reranker");
  EXPECT_EQ(CheckLogitScore(R"({"true_token_id": 9693, "false_token_id": null})").message(),
            "'false_token_id' is not 2152; mpsd knows the words of Qwen3-Reranker");
  EXPECT_FALSE(CheckLogitScore("[]").ok());
}

TEST(SentenceConfig, ReadsWhatMakesScores) {
  EXPECT_EQ(
      ParseScoreActivation(R"({"activation_fn": "torch.nn.modules.linear.Identity"})").value(),
      Activation::kIdentity);
  EXPECT_EQ(ParseScoreActivation(R"({"activation_fn": null})").value(), std::nullopt);
  EXPECT_EQ(ParseScoreActivation("{}").value(), std::nullopt);
  EXPECT_THAT(ErrorOf(ParseScoreActivation(R"({"activation_fn": "a.Mish"})")), HasSubstr("a.Mish"));
  EXPECT_THAT(ErrorOf(ParseScoreActivation(R"({"activation_fn": 1})")), HasSubstr("not known"));
}

TEST(SentenceConfig, AStepLeadsOutOfTheFolderNowhere) {
  for (const char* path : {"..", ".", "../x", "/etc", "a/b"}) {
    const std::string text = absl::StrCat(
        R"([{"type": "T.Transformer", "path": ""}, {"type": "P.Pooling", "path": ")", path, "\"}]");
    EXPECT_THAT(ErrorOf(ParseSentenceSteps(text)), HasSubstr("leads out of the folder")) << path;
  }
}

TEST(SentenceConfig, ReadsADenseMap) {
  const auto dense = ParseDense(R"({"in_features": 4, "out_features": 2, "bias": false,
                                    "activation_function": "torch.nn.modules.linear.Identity"})");
  ASSERT_TRUE(dense.ok()) << dense.status();
  EXPECT_EQ(dense->to, 2);
  EXPECT_FALSE(dense->has_bias);
  EXPECT_EQ(dense->activation, Activation::kIdentity);
  EXPECT_THAT(ErrorOf(ParseDense(R"({"in_features": 4})")), HasSubstr("'out_features'"));
  EXPECT_THAT(ErrorOf(ParseDense(R"({"in_features": 4, "out_features": 2,
                                     "activation_function": "a.Mish"})")),
              HasSubstr("'a.Mish'"));
}

TEST(SentenceConfig, ADenseMapTakesTheVectorAndReplacesIt) {
  const auto error = [](const std::string& key) {
    return ErrorOf(ParseDense(R"({"in_features": 4, "out_features": 4, )" + key + "}"));
  };
  EXPECT_EQ(error(R"("use_residual": false, "module_input_name": "sentence_embedding")"),
            "it parsed");
  EXPECT_THAT(error(R"("use_residual": true)"), HasSubstr("'use_residual'"));
  EXPECT_THAT(error(R"("module_output_name": "scores")"), HasSubstr("'module_output_name'"));
}

TEST(SentenceConfig, ReadsTheLongestRow) {
  EXPECT_EQ(ParseMaxTokens(R"({"max_seq_length": 256})").value(), 256);
  EXPECT_EQ(ParseMaxTokens(R"({"max_seq_length": null})").value(), 0);
  EXPECT_THAT(ErrorOf(ParseMaxTokens(R"({"max_seq_length": 0})")), HasSubstr("'max_seq_length'"));
}

}  // namespace
}  // namespace mpsd

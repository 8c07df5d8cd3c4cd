#include "client/web/text_bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mpsd::client {
namespace {

using testing::ElementsAre;
using Json = nlohmann::json;

const std::vector<std::string> kTexts = {"a \"b\"", "\xff"};

TEST(TextBodies, ReadsTheModelsWithTheirTasks) {
  const auto models = ReadTextModels(
      R"({"data":[{"id":"minilm","created":0,"task":"embedding"},{"id":"r","task":"rerank"}]})");
  ASSERT_TRUE(models.ok()) << models.status();
  ASSERT_EQ(models->size(), 2U);
  EXPECT_EQ((*models)[1].name, "r");
  EXPECT_EQ((*models)[1].task, "rerank");
  for (const char* body : {"", "{}", R"({"data":[{"id":"gpt"}]})", R"({"data":[1]})"}) {
    EXPECT_EQ(ReadTextModels(body).status().code(), absl::StatusCode::kInternal) << body;
  }
}

TEST(TextBodies, AsksForEmbeddingsOfWhateverBytes) {
  const Json body = Json::parse(EmbeddingsBody("m", kTexts));
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["encoding_format"], "base64");
  EXPECT_EQ(body["input"], Json({"a \"b\"", "\xEF\xBF\xBD"}));
  EXPECT_FALSE(body.contains("prompt_name"));
  EXPECT_EQ(Json::parse(EmbeddingsBody("m", kTexts, "query"))["prompt_name"], "query");
}

TEST(TextBodies, AddsEmbeddingsToThoseBefore) {
  // 1 and -2 as FP32, little endian.
  const std::string one = R"({"index":0,"embedding":"AACAPwAAAMA="})";
  const std::string body = R"({"data":[)" + one + R"(],"usage":{"total_tokens":3}})";
  Embeddings embeddings;
  ASSERT_TRUE(AddEmbeddings(body, 1, &embeddings).ok());
  ASSERT_TRUE(AddEmbeddings(body, 1, &embeddings).ok());
  EXPECT_EQ(embeddings.row_count(), 2U);
  EXPECT_THAT(embeddings.Row(1), ElementsAre(1, -2));
  EXPECT_EQ(embeddings.token_count, 6U);
  // A vector of another length than those before.
  EXPECT_EQ(AddEmbeddings(R"({"data":[{"index":0,"embedding":"AACAPw=="}]})", 1, &embeddings),
            absl::InternalError("the server's answer has vectors of other lengths"));
}

TEST(TextBodies, RefusesEmbeddingsThatAreNone) {
  for (const char* body :
       {"", "[]", "{}", R"({"data":[]})", R"({"data":[1]})", R"({"data":[{"index":0}]})",
        R"({"data":[{"index":1,"embedding":"AACAPw=="}]})",
        R"({"data":[{"index":0,"embedding":"AACA"}]})",
        R"({"data":[{"index":0,"embedding":"!"}]})"}) {
    Embeddings embeddings;
    EXPECT_EQ(AddEmbeddings(body, 1, &embeddings).code(), absl::StatusCode::kInternal) << body;
  }
}

TEST(TextBodies, PutsScoresInTheOrderOfDocuments) {
  const std::string body = R"({"results":[{"index":1,"relevance_score":0.5},)"
                           R"({"index":0,"relevance_score":-1}],"usage":{"total_tokens":9}})";
  Ranking ranking;
  ASSERT_TRUE(AddScores(body, 2, &ranking).ok());
  ASSERT_TRUE(AddScores(body, 2, &ranking).ok());
  EXPECT_THAT(ranking.scores, ElementsAre(-1, 0.5, -1, 0.5));
  EXPECT_THAT(ranking.Order(), ElementsAre(1, 3, 0, 2));
  EXPECT_EQ(ranking.token_count, 18U);
  EXPECT_EQ(Json::parse(RerankBody("m", "q", {"d"}))["documents"], Json::array({"d"}));
}

TEST(TextBodies, RefusesScoresThatAreNotOneOfEachDocument) {
  for (const char* body :
       {"{}", R"({"results":[{"index":0,"relevance_score":1}]})",
        R"({"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]})",
        R"({"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":1}]})",
        R"({"results":[{"index":0,"relevance_score":1},{"index":1}]})"}) {
    Ranking ranking;
    EXPECT_EQ(AddScores(body, 2, &ranking).code(), absl::StatusCode::kInternal) << body;
  }
}

TEST(TextBodies, ReadsTokensWithTheirPiecesIfTheServerSaysThem) {
  Tokens tokens;
  ASSERT_TRUE(
      AddTokens(R"([[{"id":101,"special":true,"piece":"[CLS]"},{"id":7}],[]])", 2, &tokens).ok());
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0][0].id, 101);
  EXPECT_EQ(tokens[0][0].piece, "[CLS]");
  EXPECT_TRUE(tokens[0][0].is_special);
  EXPECT_EQ(tokens[0][1].piece, "");
  EXPECT_TRUE(tokens[1].empty());
  for (const char* body :
       {"{}", "[[]]", "[[],1]", "[[],[1]]", R"([[],[{"id":"a"}]])", R"([[],[{"id":-1}]])",
        R"([[],[{"id":2147483648}]])", R"([[],[{"id":18446744073709551615}]])"}) {
    EXPECT_EQ(AddTokens(body, 2, &tokens).code(), absl::StatusCode::kInternal) << body;
  }
  ASSERT_TRUE(AddTokens(R"([[{"id":2147483647}]])", 1, &tokens).ok());
  EXPECT_EQ(tokens.back()[0].id, 2147483647);
  EXPECT_EQ(Json::parse(TokenizeBody("m", kTexts))["inputs"].size(), 2U);
}

}  // namespace
}  // namespace mpsd::client

#include "server/bodies/text_routes/text_route.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(TextRoute, KnowsThePathsOfOtherServersClients) {
  EXPECT_EQ(FindTextPath("/v1/embeddings").route, TextRoute::kEmbeddings);
  EXPECT_EQ(FindTextPath("/embed").route, TextRoute::kEmbed);
  EXPECT_EQ(FindTextPath("/predict").route, TextRoute::kPredict);
  EXPECT_EQ(FindTextPath("/api/embed").route, TextRoute::kOllama);
  EXPECT_EQ(FindTextPath("/api/embeddings").route, TextRoute::kOllamaOne);
  EXPECT_EQ(FindTextPath("/api/tags").route, TextRoute::kOllamaTags);
  EXPECT_EQ(FindTextPath("/info").route, TextRoute::kInfo);
  for (const char* path : {"/rerank", "/v1/rerank", "/v2/rerank"}) {
    EXPECT_EQ(FindTextPath(path).route, TextRoute::kRerank) << path;
  }
  for (const char* path : {"", "/", "/v1", "/v1/embeddings/x", "/v1/models/", "/embed_all"}) {
    EXPECT_EQ(FindTextPath(path).route, TextRoute::kNone) << path;
  }
}

TEST(TextRoute, APathMayNameAModel) {
  EXPECT_EQ(FindTextPath("/v1/models").name, "");
  EXPECT_EQ(FindTextPath("/v1/models/a%20b").route, TextRoute::kModels);
  EXPECT_EQ(FindTextPath("/v1/models/a%20b").name, "a%20b");
}

TEST(TextRoute, EachServersRoutesHaveItsErrors) {
  EXPECT_EQ(FindTextPath("/v1/rerank").errors, ErrorForm::kOpenAi);
  EXPECT_EQ(FindTextPath("/v2/rerank").errors, ErrorForm::kOpenAi);
  EXPECT_EQ(FindTextPath("/rerank").errors, ErrorForm::kTei);
  EXPECT_EQ(FindTextPath("/api/embed").errors, ErrorForm::kPlain);
}

TEST(TextRoute, NamesHaveATagOnOllamasRoutesAlone) {
  for (const char* path : {"/api/embed", "/api/embeddings", "/api/tags", "/api/show"}) {
    EXPECT_TRUE(IsOllamas(FindTextPath(path).route)) << path;
  }
  for (const char* path : {"/v1/embeddings", "/embed", "/tokenize", "/info", "/v1/models"}) {
    EXPECT_FALSE(IsOllamas(FindTextPath(path).route)) << path;
  }
}

TEST(TextRoute, UnknownPathsHaveTheErrorsOfTheServerThatTheyLookLike) {
  for (const char* path : {"/v1", "/v1/", "/v1/chat/completions", "/v1/embeddings/x"}) {
    EXPECT_EQ(FormOfUnknownPath(path), ErrorForm::kOpenAi) << path;
  }
  for (const char* path : {"/embed/x", "/embed_all", "/similarity", "/info/x", "/rerank/"}) {
    EXPECT_EQ(FormOfUnknownPath(path), ErrorForm::kTei) << path;
  }
  for (const char* path : {"/", "", "/v11", "/v2/x", "/api/x", "/embedding", "/nothing"}) {
    EXPECT_EQ(FormOfUnknownPath(path), ErrorForm::kPlain) << path;
  }
}

TEST(TextRoute, ModelsAnswerQuestionsAboutTexts) {
  EXPECT_TRUE(Infers(TextRoute::kEmbeddings));
  EXPECT_TRUE(Infers(TextRoute::kOllama));
  EXPECT_TRUE(Infers(TextRoute::kOllamaOne));
  EXPECT_FALSE(Infers(TextRoute::kOllamaShow));
  EXPECT_FALSE(Infers(TextRoute::kModels));
  EXPECT_FALSE(Infers(TextRoute::kInfo));
  EXPECT_FALSE(Infers(TextRoute::kTokenize));
}

}  // namespace
}  // namespace mpsd

#include "server/door/text_page.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "server/door/tokenize_task.h"
#include "server/texts/text_encoder.h"
#include "tests/server/bodies/text_routes/text_models.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {
namespace {

class TextPageTest : public HttpDoorTest {
 protected:
  TextPageTest() { models_.Publish(ServedEmbedder("m", 1)); }
};

TEST_F(TextPageTest, ListsTheModels) {
  EXPECT_EQ(CodeOf("GET /v1/models"), 200);
  EXPECT_TRUE(absl::StrContains(body(), R"("data":[{"id":"m",)")) << body();
  EXPECT_EQ(CodeOf("GET /v1/models/m"), 200);
  EXPECT_TRUE(absl::StartsWith(body(), R"({"id":"m",)")) << body();
  EXPECT_EQ(CodeOf("GET /v1/models/x"), 404);
  EXPECT_TRUE(absl::StrContains(body(), "model_not_found")) << body();
  EXPECT_EQ(CodeOf("POST /v1/models"), 405);
  EXPECT_TRUE(absl::StartsWith(body(), R"({"error":{"message":)")) << body();
}

TEST_F(TextPageTest, InfoIsOfTheFirstModel) {
  EXPECT_EQ(CodeOf("GET /info"), 200);
  EXPECT_TRUE(absl::StrContains(body(), R"("model_id":"m")")) << body();
  models_.Publish(ServedEmbedder("other", 1));
  EXPECT_EQ(CodeOf("GET /info"), 200);
  EXPECT_TRUE(absl::StrContains(body(), R"("model_id":"m")")) << body();
}

TEST_F(TextPageTest, TokensAreThoseOfTheModelsTokenizer) {
  EXPECT_EQ(CodeOf("POST /tokenize", "", R"({"inputs":"a"})"), 422) << "it has none";
  EXPECT_TRUE(absl::StrContains(body(), R"("error_type":"Validation")")) << body();
  EXPECT_EQ(CodeOf("POST /tokenize", "", R"({"inputs":"a","model":"x"})"), 404);
  EXPECT_EQ(CodeOf("GET /tokenize"), 405);
  const std::string large(TokenizeTask::kMaxBodyBytes, ' ');
  EXPECT_EQ(CodeOf("POST /tokenize", "", large + "{}"), 413);
  models_.models()[0]->texts = std::make_shared<const TextEncoder>(
      *text::Tokenizer::FromVocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", true), TextPolicy());
  EXPECT_EQ(CodeOf("POST /tokenize", "", R"({"inputs":"a"})"), 200);
  EXPECT_TRUE(absl::StrContains(body(), R"({"id":4,)")) << body();
  EXPECT_EQ(open_other_calls_.count(), 0u);
}

TEST_F(TextPageTest, HealthIsReadiness) { EXPECT_EQ(CodeOf("GET /health"), 200); }

TEST_F(TextPageTest, ACallerSeesTheModelsThatItMayUse) {
  models_.Publish(ServedEmbedder("secret", 1));
  SetRules();
  EXPECT_EQ(CodeOf("GET /v1/models"), 401);
  const std::string token = "Authorization: Bearer secret\r\n";
  EXPECT_EQ(CodeOf("GET /v1/models", token), 200);
  EXPECT_TRUE(absl::StrContains(body(), R"("id":"m")")) << body();
  EXPECT_FALSE(absl::StrContains(body(), R"("id":"secret")")) << body();
  EXPECT_EQ(CodeOf("GET /v1/models/secret", token), 403);
  EXPECT_EQ(CodeOf("GET /v1/models/m", token), 200);
  EXPECT_EQ(CodeOf("POST /tokenize", token, R"({"inputs":"a","model":"secret"})"), 403);
}

TEST_F(TextPageTest, TheControlSocketSeesAllModels) {
  SetRules();
  models_.Publish(ServedEmbedder("secret", 1));
  call_ = std::make_unique<FakeHttpCall>("GET /v1/models", "", "");
  call_->is_of_control = true;
  EXPECT_EQ(door_->Arrived(call_.get()), nullptr);
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_TRUE(absl::StrContains(body(), R"("id":"m")")) << body();
  EXPECT_TRUE(absl::StrContains(body(), R"("id":"secret")")) << body();
}

TEST_F(HttpDoorTest, TheOnlyModelIsHeldToTheRulesWhereNobodyNamesIt) {
  models_.Publish(ServedEmbedder("secret", 1));
  SetRules();
  const std::string token = "Authorization: Bearer secret\r\n";
  EXPECT_EQ(CodeOf("GET /info", token), 403);
  EXPECT_EQ(CodeOf("POST /tokenize", token, R"({"inputs":"a"})"), 403);
}

}  // namespace
}  // namespace mpsd

#include "server/bodies/text_routes/tokenize.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/request/too_long.h"
#include "server/texts/text_encoder.h"
#include "tests/server/bodies/text_routes/text_models.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TokenizeTest : public testing::Test {
 protected:
  TokenizeTest() {
    model_.served->texts = std::make_shared<const TextEncoder>(
        *text::Tokenizer::FromVocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n",
                                         /*lowers_case=*/true),
        TextPolicy());
  }

  absl::Status Read(const std::string& body) {
    request_ = TokenizeRequest();
    return ReadTokenizeRequest(body, 2, &request_);
  }

  const TextModel model_ = *TextModelOf(ServedEmbedder("m"));
  TokenizeRequest request_;
};

TEST_F(TokenizeTest, ReadsATextOrAList) {
  ASSERT_TRUE(Read(R"({"inputs":"a","model":"m","add_special_tokens":false})").ok());
  EXPECT_THAT(request_.texts, ElementsAre("a"));
  EXPECT_EQ(request_.model, "m");
  EXPECT_FALSE(request_.adds_special);
  ASSERT_TRUE(Read(R"({"inputs":["a","b"],"prompt_name":null,"more":[1]})").ok());
  EXPECT_THAT(request_.texts, ElementsAre("a", "b"));
  EXPECT_TRUE(request_.adds_special);
  EXPECT_TRUE(IsTooLong(Read(R"({"inputs":["a","b","c"]})")));
  for (const char* body : {"{}", R"({"inputs":[]})", R"({"inputs":[1]})", "["}) {
    EXPECT_EQ(Read(body).code(), absl::StatusCode::kInvalidArgument) << body;
  }
}

TEST_F(TokenizeTest, TheTokensAroundATextAreSpecial) {
  request_.texts = {"b"};
  const auto json = TokensJson(request_, model_).value();
  EXPECT_EQ(json,
            R"([[{"id":2,"piece":"[CLS]","text":null,"special":true,)"
            R"("start":null,"stop":null},)"
            R"({"id":5,"piece":"b","text":null,"special":false,"start":null,"stop":null},)"
            R"({"id":3,"piece":"[SEP]","text":null,"special":true,"start":null,"stop":null}]])");
  request_.adds_special = false;
  EXPECT_EQ(*TokensJson(request_, model_),
            R"([[{"id":5,"piece":"b","text":null,"special":false,"start":null,"stop":null}]])");
}

TEST_F(TokenizeTest, ThePromptsTokensAreThere) {
  ASSERT_TRUE(Read(R"({"inputs":"b","prompt_name":"query","add_special_tokens":false})").ok());
  EXPECT_EQ(request_.prompt_name, "query");
  EXPECT_EQ(TokensJson(request_, model_).status().message(),
            "'prompt_name': the model has no prompts");
  model_.served->texts = std::make_shared<const TextEncoder>(
      *text::Tokenizer::FromVocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n",
                                       /*lowers_case=*/true),
      TextPolicy(), /*strips=*/true, *Prompts::Parse(R"({"prompts":{"query":"a "}})"));
  const auto json = TokensJson(request_, model_).value();
  EXPECT_THAT(json, HasSubstr(R"({"id":4,"piece":"a",)"));
  EXPECT_THAT(json, HasSubstr(R"({"id":5,"piece":"b",)"));
}

TEST_F(TokenizeTest, PromptsCountTowardsTheBound) {
  const std::string prompt(4096, 'a');
  model_.served->texts = std::make_shared<const TextEncoder>(
      *text::Tokenizer::FromVocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n",
                                       /*lowers_case=*/true),
      TextPolicy(), /*strips=*/true,
      *Prompts::Parse(absl::StrCat(R"({"prompts":{"query":")", prompt, R"("}})")));
  request_.prompt_name = "query";
  request_.texts.assign(16, "");
  EXPECT_TRUE(TokensJson(request_, model_).ok());
  request_.texts.back() = "b";
  EXPECT_TRUE(IsTooLong(TokensJson(request_, model_).status()));
}

TEST_F(TokenizeTest, EachRowHasItsOwnPieces) {
  request_.adds_special = false;
  request_.texts = {"a b", "", "b"};
  EXPECT_THAT(*TokensJson(request_, model_),
              testing::EndsWith(R"(],[],[{"id":5,"piece":"b","text":null,"special":false,)"
                                R"("start":null,"stop":null}]])"));
}

TEST_F(TokenizeTest, TextsAreNotCut) {
  request_.adds_special = false;
  request_.texts = {"a a a a a a a a a a", ""};
  const std::string json = *TokensJson(request_, model_);
  EXPECT_EQ(std::count(json.begin(), json.end(), '{'), 10);
  EXPECT_THAT(json, testing::EndsWith("}],[]]"));
}

TEST_F(TokenizeTest, AModelWithoutATokenizer) {
  request_.texts = {"a"};
  model_.served->texts = absl::UnimplementedError("");
  EXPECT_EQ(TokensJson(request_, model_).status().code(), absl::StatusCode::kInvalidArgument);
  model_.served->texts = absl::NotFoundError("/srv/x");
  const absl::Status status = TokensJson(request_, model_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), testing::Not(HasSubstr("/srv")));
}

}  // namespace
}  // namespace mpsd

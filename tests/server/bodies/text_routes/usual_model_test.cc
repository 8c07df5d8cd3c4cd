#include "server/bodies/text_routes/usual_model.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "server/request/retry_info.h"
#include "tests/server/bodies/text_routes/text_models.h"

namespace mpsd {
namespace {

bool MayUseAny(absl::string_view) { return true; }

class UsualModelTest : public testing::Test {
 protected:
  // The name of the model that answers the route, else the error's code.
  std::string For(TextRoute route, MayUseModel may_use = MayUseAny) const {
    const absl::StatusOr<TextModel> model = FindUsualModel(models_, route, may_use);
    return model.ok() ? model->name() : absl::StatusCodeToString(model.status().code());
  }

  // A model whose task nobody knows before it is loaded.
  std::shared_ptr<ServedModel> Loading(const std::string& name) {
    const std::shared_ptr<ServedModel> served = ServedEmbedder(name);
    served->loaded = served->ready = false;
    return served;
  }

  ModelDirectory models_;
};

TEST_F(UsualModelTest, EachTaskHasOne) {
  EXPECT_EQ(For(TextRoute::kEmbed), "NOT_FOUND");
  models_.Publish(ServedOf("image", {{"y", DataType::kFp32, {2}}}));
  EXPECT_EQ(For(TextRoute::kEmbed), "NOT_FOUND");
  models_.Publish(ServedEmbedder("e"));
  models_.Publish(ServedScorer("r"));
  models_.Publish(ServedScorer("c", 3));
  for (const TextRoute route : {TextRoute::kEmbeddings, TextRoute::kEmbed, TextRoute::kOllama}) {
    EXPECT_EQ(For(route), "e");
  }
  EXPECT_EQ(For(TextRoute::kRerank), "r");
  EXPECT_EQ(For(TextRoute::kPredict), "c") << "a reranker is there before it";
  EXPECT_EQ(For(TextRoute::kInfo), "e");
}

TEST_F(UsualModelTest, OfSeveralTheFirst) {
  models_.Publish(ServedEmbedder("b"));
  models_.Publish(ServedEmbedder("a"));
  EXPECT_EQ(For(TextRoute::kEmbed), "b");
  models_.Publish(ServedEmbedder("b", 7));
  EXPECT_EQ(FindUsualModel(models_, TextRoute::kEmbed, MayUseAny)->width, 7u) << "a reload of it";
}

TEST_F(UsualModelTest, OfSeveralTheOneOfTheConfig) {
  models_.Publish(ServedEmbedder("a"));
  const std::shared_ptr<ServedModel> told = ServedEmbedder("b");
  told->facts.default_for = {ModelTask::kEmbedding};
  models_.Publish(told);
  EXPECT_EQ(For(TextRoute::kEmbed), "b");
  EXPECT_EQ(For(TextRoute::kInfo), "a");
  told->loaded = told->ready = false;
  EXPECT_EQ(For(TextRoute::kEmbed), "UNAVAILABLE") << "it still loads";
  told->settled = true;
  EXPECT_EQ(For(TextRoute::kEmbed), "UNAVAILABLE") << "it has failed, and no other is meant";
}

TEST_F(UsualModelTest, AModelThatLoadsMayBeTheOne) {
  const std::shared_ptr<ServedModel> first = Loading("first");
  models_.Publish(first);
  models_.Publish(ServedEmbedder("e"));
  const absl::Status status = FindUsualModel(models_, TextRoute::kEmbed, MayUseAny).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(RetryAfterNs(status).has_value());
  EXPECT_TRUE(absl::StrContains(status.message(), "'first' is still loading")) << status;
  first->facts.task = ModelTask::kRerank;
  EXPECT_EQ(For(TextRoute::kEmbed), "e") << "the config says that the other is none";
  EXPECT_EQ(For(TextRoute::kRerank), "UNAVAILABLE");
  first->settled = true;
  EXPECT_EQ(For(TextRoute::kRerank), "e") << "it has failed; the only one left says what it does";
}

TEST_F(UsualModelTest, AModelThatLoadsBehindItIsNotWaitedFor) {
  models_.Publish(ServedEmbedder("e"));
  models_.Publish(Loading("late"));
  EXPECT_EQ(For(TextRoute::kEmbed), "e");
  EXPECT_EQ(For(TextRoute::kRerank), "UNAVAILABLE");
}

TEST_F(UsualModelTest, AModelWhoseWorkersDiedIsTheOneStill) {
  const std::shared_ptr<ServedModel> first = ServedEmbedder("first");
  first->settled = true;
  first->ready = false;
  models_.Publish(first);
  models_.Publish(ServedEmbedder("e"));
  EXPECT_EQ(For(TextRoute::kEmbed), "first");
}

TEST_F(UsualModelTest, WithoutTheTaskTheOnlyModelRefusesForItself) {
  models_.Publish(ServedEmbedder("e"));
  EXPECT_EQ(For(TextRoute::kRerank), "e");
  models_.Publish(ServedEmbedder("f"));
  EXPECT_EQ(For(TextRoute::kRerank), "INVALID_ARGUMENT");
}

TEST_F(UsualModelTest, ModelsThatTheCallerMayNotUseArePassedOver) {
  models_.Publish(ServedEmbedder("a"));
  models_.Publish(ServedEmbedder("b"));
  EXPECT_EQ(For(TextRoute::kEmbed, [](absl::string_view name) { return name == "b"; }), "b");
  EXPECT_EQ(For(TextRoute::kEmbed, [](absl::string_view) { return false; }), "a")
      << "for the gate to refuse";
}

TEST_F(UsualModelTest, TokensAreThoseOfAModelWithATokenizer) {
  models_.Publish(ServedEmbedder("tokens"));
  EXPECT_EQ(For(TextRoute::kTokenize), "tokens") << "the only one";
  const std::shared_ptr<ServedModel> texts = ServedScorer("texts");
  texts->texts = absl::InvalidArgumentError("stands for a tokenizer here");
  models_.Publish(texts);
  EXPECT_EQ(For(TextRoute::kTokenize), "texts");
}

TEST_F(UsualModelTest, AreListedWithThoseThatTheyStandFor) {
  models_.Publish(ServedEmbedder("a"));
  models_.Publish(ServedEmbedder("b"));
  models_.Publish(ServedScorer("r"));
  const std::vector<UsualModel> usual = UsualModels(models_, MayUseAny);
  ASSERT_EQ(usual.size(), 2u);
  EXPECT_EQ(usual[0].name, "a");
  EXPECT_EQ(usual[0].model_count, 2u);
  EXPECT_EQ(usual[1].task, ModelTask::kRerank);
  EXPECT_EQ(usual[1].model_count, 1u);
}

}  // namespace
}  // namespace mpsd

#include "server/bodies/text_routes/text_model.h"

#include <gtest/gtest.h>

#include "server/bodies/text_routes/text_listing.h"
#include "tests/server/bodies/text_routes/text_models.h"

namespace mpsd {
namespace {

TEST(TextModel, TheOutputsTellTheTask) {
  const auto embedder = TextModelOf(ServedEmbedder("m", 5));
  ASSERT_TRUE(embedder.has_value());
  EXPECT_EQ(embedder->task, ModelTask::kEmbedding);
  EXPECT_EQ(embedder->width, 5u);
  EXPECT_EQ(embedder->output_spec().name, "sentence_embedding");
  const auto reranker = TextModelOf(ServedScorer("m", 1));
  ASSERT_TRUE(reranker.has_value());
  EXPECT_EQ(reranker->task, ModelTask::kRerank);
  EXPECT_EQ(reranker->output, 1u);
  EXPECT_EQ(reranker->raw_output, 0u);
  EXPECT_EQ(TextModelOf(ServedScorer("m", 3))->task, ModelTask::kClassify);
}

TEST(TextModel, TheConfigSaysTheTaskOfAnOutputWithAnyName) {
  const auto served = ServedOf("m", {{"y", DataType::kFp32, {2}}});
  EXPECT_FALSE(TextModelOf(served).has_value());
  served->facts.task = ModelTask::kClassify;
  ASSERT_TRUE(TextModelOf(served).has_value());
  EXPECT_EQ(TextModelOf(served)->task, ModelTask::kClassify);
}

TEST(TextModel, TheFileSaysTheTaskWhereTheConfigDoesNot) {
  const auto served = ServedOf("m", {{"y", DataType::kFp32, {2}}});
  served->spec.task = ModelTask::kEmbedding;
  ASSERT_TRUE(TextModelOf(served).has_value());
  EXPECT_EQ(TextModelOf(served)->task, ModelTask::kEmbedding);
  served->facts.task = ModelTask::kClassify;
  EXPECT_EQ(TextModelOf(served)->task, ModelTask::kClassify);
}

TEST(TextModel, OthersHaveNoTask) {
  const auto halves = ServedOf("m", {{"embedding", DataType::kFp16, {2}}});
  EXPECT_FALSE(TextModelOf(halves).has_value());
  const auto tokens = ServedOf("m", {{"embedding", DataType::kFp32, {-1, 2}}});
  EXPECT_FALSE(TextModelOf(tokens).has_value());
  const auto image = ServedEmbedder("m");
  image->spec.inputs[0].name = "pixels";
  EXPECT_FALSE(TextModelOf(image).has_value());
}

TEST(TextModel, ClassesHaveTheirLabelsOrANumber) {
  const auto served = ServedScorer("m", 3);
  served->labels["scores"] = {"bad", "good"};
  const auto model = TextModelOf(served);
  EXPECT_EQ(model->LabelOf(1), "good");
  EXPECT_EQ(model->LabelOf(2), "LABEL_2");
}

class FindTextModelTest : public testing::Test {
 protected:
  absl::StatusCode CodeOf(const char* name) { return FindTextModel(models_, name).status().code(); }

  ModelDirectory models_;
};

TEST_F(FindTextModelTest, VersionsOfAModelAreOne) {
  const auto second = ServedEmbedder("m", 7);
  second->version = "2";
  models_.Publish(ServedEmbedder("m"));
  models_.Publish(second);
  ASSERT_EQ(AllTextModels(models_).size(), 1u);
  EXPECT_EQ(FindTextModel(models_, "m")->width, 7u);
}

TEST_F(FindTextModelTest, UnknownOtherAndUnloadedModels) {
  models_.Publish(ServedOf("image", {{"y", DataType::kFp32, {2}}}));
  const auto late = ServedEmbedder("late");
  late->loaded = late->ready = false;
  models_.Publish(late);
  EXPECT_EQ(CodeOf("x"), absl::StatusCode::kNotFound);
  EXPECT_EQ(CodeOf("image"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf("late"), absl::StatusCode::kUnavailable);
}

TEST(TextListing, NamesTheModelsAndTheirTasks) {
  EXPECT_EQ(ModelListJson({}), R"({"object":"list","data":[]})");
  EXPECT_EQ(ModelListJson({*TextModelOf(ServedEmbedder("a")), *TextModelOf(ServedScorer("b"))}),
            R"({"object":"list","data":[)"
            R"({"id":"a","object":"model","created":0,"owned_by":"mpsd","task":"embedding"},)"
            R"({"id":"b","object":"model","created":0,"owned_by":"mpsd","task":"rerank"}]})");
}

TEST(TextListing, InfoHasTheBoundsOfAModel) {
  EXPECT_EQ(InfoJson(*TextModelOf(ServedEmbedder("a")), 9, "1.2", {}),
            R"({"model_id":"a","model_sha":null,"model_dtype":"float32",)"
            R"("model_type":{"embedding":{"dimensions":3}},"max_input_length":8,)"
            R"("max_client_batch_size":9,"auto_truncate":true,"version":"1.2","default_for":{}})");
  const std::vector<UsualModel> usual = {{ModelTask::kEmbedding, "a"}, {ModelTask::kRerank, "b"}};
  EXPECT_NE(InfoJson(*TextModelOf(ServedEmbedder("a")), 9, "1.2", usual)
                .find(R"("default_for":{"embedding":"a","rerank":"b"}})"),
            std::string::npos);
  const auto served = ServedScorer("b", 2);
  served->precision = Precision::kBf16;
  EXPECT_NE(InfoJson(*TextModelOf(served), 9, "1", {}).find(R"("model_dtype":"bfloat16")"),
            std::string::npos);
  served->labels["scores"] = {"bad", "good"};
  EXPECT_NE(InfoJson(*TextModelOf(served), 9, "1", {})
                .find(R"("classifier":{"id2label":{"0":"bad","1":"good"},)"
                      R"("label2id":{"bad":0,"good":1}})"),
            std::string::npos);
}

}  // namespace
}  // namespace mpsd

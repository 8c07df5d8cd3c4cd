#include "server/bodies/text_routes/ollama_json.h"

#include <gtest/gtest.h>

#include "tests/server/bodies/text_routes/text_models.h"

namespace mpsd {
namespace {

TEST(WithoutOllamaTag, TakesTheOnlyTagThatThereIs) {
  EXPECT_EQ(WithoutOllamaTag("m:latest"), "m");
  EXPECT_EQ(WithoutOllamaTag("m"), "m");
  EXPECT_EQ(WithoutOllamaTag("m:v1"), "m:v1");
}

TEST(ReadOllamaShow, TakesBothNamesOfTheField) {
  EXPECT_EQ(ReadOllamaShow(R"({"model":"m:latest","verbose":true})").value(), "m");
  EXPECT_EQ(ReadOllamaShow(R"({"name":"m"})").value(), "m");
  for (const char* body : {"", "[]", "{}", "{", R"({"model":1})", "7", R"({"name":""})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadOllamaShow(body).status())) << body;
  }
}

TEST(OllamaVersionJson, IsAnObject) {
  EXPECT_EQ(OllamaVersionJson("1.2.3"), R"({"version":"1.2.3"})");
}

TEST(OllamaModelsJson, OfNoModelIsAnEmptyList) {
  EXPECT_EQ(OllamaModelsJson(TextRoute::kOllamaTags, {}), R"({"models":[]})");
}

TEST(OllamaModelsJson, NamesEachModelWithItsTag) {
  const TextModel model = *TextModelOf(ServedEmbedder("m"));
  const std::string details =
      R"("details":{"parent_model":"","format":"","family":"","families":[],)"
      R"("parameter_size":"","quantization_level":""})";
  const std::string begin =
      R"({"name":"m:latest","model":"m:latest","size":0,"digest":"",)" + details;
  const std::string tag = begin + R"(,"modified_at":"1970-01-01T00:00:00Z"})";
  EXPECT_EQ(OllamaModelsJson(TextRoute::kOllamaTags, {model, model}),
            R"({"models":[)" + tag + "," + tag + "]}");
  EXPECT_EQ(OllamaModelsJson(TextRoute::kOllamaPs, {model}),
            R"({"models":[)" + begin +
                R"(,"expires_at":"1970-01-01T00:00:00Z","size_vram":0,"context_length":8}]})");
}

TEST(OllamaShowJson, SaysWhatTheModelCan) {
  const std::string embedder = OllamaShowJson(*TextModelOf(ServedEmbedder("m")));
  EXPECT_NE(embedder.find(R"("encoder.embedding_length":3)"), std::string::npos) << embedder;
  EXPECT_NE(embedder.find(R"("encoder.context_length":8)"), std::string::npos) << embedder;
  EXPECT_NE(embedder.find(R"("capabilities":["embedding"])"), std::string::npos) << embedder;
  const std::string scorer = OllamaShowJson(*TextModelOf(ServedScorer("m")));
  EXPECT_NE(scorer.find(R"("capabilities":[])"), std::string::npos) << scorer;
}

}  // namespace
}  // namespace mpsd

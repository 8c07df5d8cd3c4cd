#include "client/cli/config_verdict.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mpsd::cli {
namespace {

std::vector<hub::HubFile> Files(const std::vector<std::string>& paths) {
  std::vector<hub::HubFile> files;
  for (const std::string& path : paths) files.push_back({path, "", 1});
  return files;
}

ConfigVerdict Verdict(const char* entry,
                      const std::vector<std::string>& paths = {"config.json", "tokenizer.json",
                                                               "model.safetensors"}) {
  return VerdictOf(nlohmann::json::parse(entry), Files(paths));
}

TEST(VerdictOf, EachTaskHasItsRoutes) {
  EXPECT_EQ(Verdict(R"({"task":"embedding","width":384})").text,
            "embeddings of 384 numbers: /v1/embeddings, /embed, /api/embed");
  EXPECT_EQ(Verdict(R"({"task":"rerank","width":1})").text, "scores of pairs: /rerank, /predict");
  const ConfigVerdict classes = Verdict(R"({"task":"classify","width":3})");
  EXPECT_EQ(classes.text, "classes of 3 numbers: /predict");
  EXPECT_EQ(classes.task, "classify");
  EXPECT_EQ(classes.routes, std::vector<std::string>{"/predict"});
}

TEST(VerdictOf, SaysWhyNot) {
  const ConfigVerdict refused = Verdict(R"({"error":"config.json: no"})");
  EXPECT_EQ(refused.text, "not served: config.json: no");
  EXPECT_EQ(refused.task, "");
  EXPECT_EQ(Verdict(R"({"task":"embedding","width":8})", {"config.json", "model.onnx"}).text,
            "not served: it has no weights as safetensors or pytorch_model.bin");
  EXPECT_EQ(Verdict("[]").text, "not served: mpsd-worker says no task");
}

TEST(VerdictOf, WithoutATokenizerThereAreNoRoutesForTexts) {
  const ConfigVerdict verdict =
      Verdict(R"({"task":"embedding","width":8})", {"config.json", "model.safetensors"});
  EXPECT_EQ(verdict.text, "embeddings of 8 numbers, of tokens alone: there is no tokenizer.json");
  EXPECT_TRUE(verdict.routes.empty());
}

}  // namespace
}  // namespace mpsd::cli

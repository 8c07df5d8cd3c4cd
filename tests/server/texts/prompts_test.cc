#include "server/texts/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

// The prompt of a name, or the error.
std::string Found(const Prompts& prompts, const std::optional<std::string>& name) {
  const auto prompt = prompts.Find(name);
  return prompt.ok() ? std::string(*prompt) : absl::StrCat("error: ", prompt.status().message());
}

std::string ErrorOf(const std::string& json) {
  const absl::Status status = Prompts::Parse(json).status();
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
  return std::string(status.message());
}

// A file with `count` prompts of this text, named by their numbers.
std::string FileOf(size_t count, const std::string& name, const std::string& text) {
  std::string json = "{\"prompts\":{";
  for (size_t i = 0; i < count; ++i) {
    absl::StrAppend(&json, i > 0 ? "," : "", "\"", name, i, "\":\"", text, "\"");
  }
  return absl::StrCat(json, "}}");
}

TEST(Prompts, AreFoundByTheirNames) {
  const auto prompts = Prompts::Parse(
      R"({"__version__": {"any": "1"}, "prompts": {"query": "find: ", "document": ""}})");
  ASSERT_TRUE(prompts.ok()) << prompts.status();
  EXPECT_EQ(Found(*prompts, "query"), "find: ");
  EXPECT_EQ(Found(*prompts, "document"), "");
  EXPECT_EQ(Found(*prompts, std::nullopt), "");
}

TEST(Prompts, TheDefaultIsThatOfRequestsThatNameNone) {
  const auto prompts = Prompts::Parse(
      R"({"prompts": {"query": "find: ", "document": ""}, "default_prompt_name": "query"})");
  ASSERT_TRUE(prompts.ok()) << prompts.status();
  EXPECT_EQ(Found(*prompts, std::nullopt), "find: ");
  EXPECT_EQ(Found(*prompts, "document"), "");
  EXPECT_EQ(prompts->default_name(), "query");
  EXPECT_THAT(prompts->texts(), testing::ElementsAre(testing::Pair("document", ""),
                                                     testing::Pair("query", "find: ")));
}

TEST(Prompts, ThereMayBeNone) {
  for (const char* json :
       {"{}", R"({"prompts": null, "default_prompt_name": null})", R"({"prompts": {}})"}) {
    const auto prompts = Prompts::Parse(json);
    ASSERT_TRUE(prompts.ok()) << json << prompts.status();
    EXPECT_EQ(Found(*prompts, std::nullopt), "");
    EXPECT_EQ(prompts->default_name(), std::nullopt);
    EXPECT_EQ(Found(*prompts, "query"), "error: 'prompt_name': the model has no prompts");
  }
}

TEST(Prompts, AnUnknownNameIsToldTheKnownOnes) {
  const auto prompts = Prompts::Parse(R"({"prompts": {"query": "find: ", "document": ""}})");
  ASSERT_TRUE(prompts.ok()) << prompts.status();
  EXPECT_EQ(Found(*prompts, "Query"),
            "error: 'prompt_name' must be one of the model's prompts: document, query");
  EXPECT_EQ(prompts->Find("").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Prompts, OfManyNamesTheFirstAreTold) {
  const auto prompts = Prompts::Parse(FileOf(17, "a", ""));
  ASSERT_TRUE(prompts.ok()) << prompts.status();
  EXPECT_THAT(Found(*prompts, "x"), testing::EndsWith(": a0, a1, a10, a11, a12, a13, a14, a15, "
                                                      "a16, a2, a3, a4, a5, a6, a7, a8, …"));
}

TEST(Prompts, OtherShapesAreRefusedByName) {
  EXPECT_EQ(ErrorOf("[]"), "is no JSON object");
  EXPECT_EQ(ErrorOf("{"), "is no JSON object");
  EXPECT_EQ(ErrorOf(R"({"prompts": ["find: "]})"), "'prompts' must be an object of texts");
  EXPECT_EQ(ErrorOf(R"({"prompts": {"query": ["find: "]}})"), "'prompts': 'query' must be a text");
  EXPECT_EQ(ErrorOf(R"({"prompts": {"query": null}})"), "'prompts': 'query' must be a text");
  const std::string unknown = "'default_prompt_name' must be one of the names in 'prompts'";
  EXPECT_EQ(ErrorOf(R"({"prompts": {"a": ""}, "default_prompt_name": "b"})"), unknown);
  EXPECT_EQ(ErrorOf(R"({"prompts": {"a": ""}, "default_prompt_name": 1})"), unknown);
  EXPECT_EQ(ErrorOf(R"({"default_prompt_name": "a"})"), unknown);
}

TEST(Prompts, HaveBounds) {
  EXPECT_EQ(ErrorOf(FileOf(kMaxPrompts, "a", "b")), "");
  EXPECT_EQ(ErrorOf(FileOf(kMaxPrompts + 1, "a", "b")), "'prompts' has more than 256 of them");
  EXPECT_EQ(ErrorOf(FileOf(1, std::string(kMaxPromptNameBytes - 1, 'a'), "b")), "");
  EXPECT_EQ(ErrorOf(FileOf(1, std::string(kMaxPromptNameBytes, 'a'), "b")),
            "'prompts': a name has more than 128 bytes");
  EXPECT_EQ(ErrorOf(FileOf(1, "a", std::string(kMaxPromptBytes, 'b'))), "");
  EXPECT_EQ(ErrorOf(FileOf(1, "a", std::string(kMaxPromptBytes + 1, 'b'))),
            "'prompts': 'a0' has more than 4096 bytes");
  const std::string wide(10'001, ',');
  EXPECT_EQ(ErrorOf("{\"a\":[" + wide + "]}"), "is nested too deep, or has too many values");
  EXPECT_EQ(ErrorOf("{\"a\":" + std::string(17, '[') + std::string(17, ']') + "}"),
            "is nested too deep, or has too many values");
}

TEST(Prompts, OfAFolderAreReadBesideTheTokenizer) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "prompts_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string tokenizer = folder / "vocab.txt";
  const std::string file = folder / "config_sentence_transformers.json";
  auto prompts = ReadPromptsBeside(tokenizer);
  ASSERT_TRUE(prompts.ok()) << prompts.status();
  EXPECT_EQ(Found(*prompts, std::nullopt), "");
  std::ofstream(file) << R"({"prompts": {"a": "b"}, "default_prompt_name": "a"})";
  prompts = ReadPromptsBeside(tokenizer);
  ASSERT_TRUE(prompts.ok()) << prompts.status();
  EXPECT_EQ(Found(*prompts, std::nullopt), "b");
  std::ofstream(file) << R"({"prompts": 1})";
  EXPECT_EQ(ReadPromptsBeside(tokenizer).status().message(),
            absl::StrCat("beside ", tokenizer,
                         ": config_sentence_transformers.json: 'prompts' must be an object of "
                         "texts"));
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_THAT(std::string(ReadPromptsBeside(tokenizer).status().message()),
              HasSubstr("config_sentence_transformers.json: is no file"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mpsd

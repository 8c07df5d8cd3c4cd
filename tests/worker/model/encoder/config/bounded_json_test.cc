#include "worker/model/encoder/config/bounded_json.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

constexpr size_t kMany = 1000;

std::string ErrorOf(const std::string& text, size_t most_values = kMany) {
  const absl::StatusOr<nlohmann::json> json = ParseBoundedJson(text, most_values);
  return json.ok() ? "it parsed" : std::string(json.status().message());
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(BoundedJson, ParsesJson) {
  const absl::StatusOr<nlohmann::json> json = ParseBoundedJson(R"({"a": [1, "x"]})", kMany);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ((*json)["a"][1], "x");
}

TEST(BoundedJson, RefusesATextThatIsMalformed) {
  for (const char* text : {"", "{", "{]", "]", "\"", "{\"a\": \"\xff\"}", "1 2", "\"\\"}) {
    EXPECT_EQ(ErrorOf(text), "is no JSON") << text;
  }
}

TEST(BoundedJson, SixteenLevelsAreTheDeepest) {
  EXPECT_EQ(ErrorOf(Nested(16)), "it parsed");
  EXPECT_EQ(ErrorOf(Nested(17)), "is nested too deep");
  EXPECT_EQ(ErrorOf(std::string(1 << 20, '[')), "is nested too deep");
}

TEST(BoundedJson, CountsValuesButNoTextInsideOfStrings) {
  EXPECT_EQ(ErrorOf("[1,2,3]", 3), "it parsed");
  EXPECT_EQ(ErrorOf("[1,2,3,4]", 3), "has too many values");
  EXPECT_EQ(ErrorOf(R"(["[[[,,,{\"[[,,"])", 1), "it parsed");
}

TEST(BoundedJson, SettingsAreAnObject) {
  EXPECT_TRUE(ParseSettings("{}").ok());
  EXPECT_EQ(ParseSettings("[]").status().message(), "is no JSON object");
}

}  // namespace
}  // namespace mpsd

#include "text/tokenizer/fields.h"

#include <gtest/gtest.h>

namespace mpsd::text {
namespace {

std::string ParseError(const std::string& text) {
  Json json;
  return std::string(ParseJson(text, "tokenizer.json", &json).message());
}

TEST(Fields, NamesTheFirstKeyThatNobodyAskedFor) {
  const Json json = {{"a", 1U}, {"b", 2U}};
  Fields fields(json, "model");
  EXPECT_EQ(fields.Number("a", 0, 0, 9), 1);
  EXPECT_EQ(fields.Finish().message(), "model: 'b' is not known");
}

TEST(Fields, TakesNullForMissing) {
  const Json json = {{"a", nullptr}};
  Fields fields(json, "model");
  EXPECT_TRUE(fields.Flag("a", true));
  EXPECT_EQ(fields.Find("a"), nullptr);
  EXPECT_TRUE(fields.Finish().ok());
}

TEST(Fields, KeepsTheFirstError) {
  const Json json = {{"a", "x"}, {"b", -1}};
  Fields fields(json, "model");
  EXPECT_FALSE(fields.Flag("a", false));
  EXPECT_EQ(fields.Number("b", 5, 0, 9), 5);
  EXPECT_EQ(fields.Finish().message(), "model: 'a' must be true or false");
}

TEST(ParseJson, RefusesWhatIsTooDeepBeforeItIsParsed) {
  EXPECT_EQ(ParseError("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}"),
            "tokenizer.json: it is too deep");
  EXPECT_EQ(ParseError("{\"a\":\"" + std::string(40, '[') + "\\\"[\"}"), "");
}

TEST(ParseJson, RefusesTooManyValues) {
  EXPECT_EQ(ParseError("{\"a\":[" + std::string(kMaxJsonValues, ',') + "]}"),
            "tokenizer.json: it has too many values");
}

TEST(ParseJson, RefusesWhatIsNoObject) {
  EXPECT_EQ(ParseError("[]"), "tokenizer.json: it is no JSON object");
  EXPECT_EQ(ParseError("{"), "tokenizer.json: it is no JSON object");
}

}  // namespace
}  // namespace mpsd::text

#include "client/web/answer_json.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd::client {
namespace {

TEST(AnswerJson, WritesWhateverBytes) {
  EXPECT_EQ(JsonText({{"a", "x\xff\""}}), "{\"a\":\"x\xEF\xBF\xBD\\\"\"}");
}

TEST(AnswerJson, AnAnswerThatIsTooDeepIsNone) {
  EXPECT_EQ(ParseAnswer(R"({"a":[[1]]})"), Json::parse(R"({"a":[[1]]})"));
  EXPECT_TRUE(ParseAnswer("{\"a\":" + std::string(1'000'000, '[')).is_null());
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_TRUE(ParseAnswer("{\"a\":" + deep + "}").is_null());
}

TEST(AnswerJson, WhatIsNoJsonIsNone) {
  EXPECT_TRUE(ParseAnswer("{").is_null());
  EXPECT_TRUE(ParseAnswer("").is_null());
}

TEST(AnswerJson, AFieldIsReadWhereItLies) {
  const Json json = {{"a", {1, 2}}};
  EXPECT_EQ(&Field(json, "a"), &json["a"]);
}

TEST(AnswerJson, AFieldThatIsNotThereIsNull) {
  const Json object = {{"a", 1}};
  const Json list = {"a", "b"};
  EXPECT_EQ(Field(object, "a"), 1);
  EXPECT_TRUE(Field(object, "b").is_null());
  EXPECT_TRUE(Field(list, "a").is_null());
}

}  // namespace
}  // namespace mpsd::client

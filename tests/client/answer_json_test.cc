#include "client/web/answer_json.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd::client {
namespace {

TEST(AnswerJson, WritesWhateverBytes) {
  EXPECT_EQ(JsonText({{"a", "x\xff\""}}), "{\"a\":\"x\xEF\xBF\xBD\\\"\"}");
}

TEST(AnswerJson, AnAnswerThatIsTooDeepIsNone) {
  EXPECT_EQ(Field(ParseAnswer(R"({"a":[[1]]})"), "a"), Json::parse("[[1]]"));
  EXPECT_TRUE(Field(ParseAnswer("{\"a\":" + std::string(1'000'000, '[')), "a").is_null());
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_TRUE(Field(ParseAnswer("{\"a\":" + deep + "}"), "a").is_null());
}

TEST(AnswerJson, AFieldThatIsNotThereIsNull) {
  EXPECT_EQ(Field({{"a", 1}}, "a"), 1);
  EXPECT_TRUE(Field({{"a", 1}}, "b").is_null());
  EXPECT_TRUE(Field({"a", "b"}, "a").is_null());
  EXPECT_TRUE(Field(Json::parse("{", nullptr, false), "a").is_null());
}

}  // namespace
}  // namespace mpsd::client

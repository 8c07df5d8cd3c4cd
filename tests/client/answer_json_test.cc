#include "client/web/answer_json.h"

#include <gtest/gtest.h>

namespace mpsd::client {
namespace {

TEST(AnswerJson, WritesWhateverBytes) {
  EXPECT_EQ(JsonText({{"a", "x\xff\""}}), "{\"a\":\"x\xEF\xBF\xBD\\\"\"}");
}

TEST(AnswerJson, AFieldThatIsNotThereIsNull) {
  EXPECT_EQ(Field({{"a", 1}}, "a"), 1);
  EXPECT_TRUE(Field({{"a", 1}}, "b").is_null());
  EXPECT_TRUE(Field({"a", "b"}, "a").is_null());
  EXPECT_TRUE(Field(Json::parse("{", nullptr, false), "a").is_null());
}

}  // namespace
}  // namespace mpsd::client

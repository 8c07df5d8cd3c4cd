#include "client/tune/json_edit.h"

#include <gtest/gtest.h>

namespace mpsd::tune {
namespace {

using nlohmann::ordered_json;

// The text after the change, which is a JSON merge patch.
std::string Edited(const std::string& text, const char* change) {
  auto after = ordered_json::parse(text, nullptr, true, /*ignore_comments=*/true);
  after.merge_patch(ordered_json::parse(change));
  return EditedJson(text, after);
}

TEST(JsonEdit, ChangesAValueAndNothingElse) {
  EXPECT_EQ(Edited("// a: 1\n{ \"a\" : 1/* one */, \"b\": [1,  2] }\n", R"({"a": 2})"),
            "// a: 1\n{ \"a\" : 2/* one */, \"b\": [1,  2] }\n");
  EXPECT_EQ(Edited(R"({"a": {"b": "x, \"}"}, "c": -1.5e3})", R"({"c": "y", "a": {"b": null}})"),
            ordered_json::parse(R"({"a": {}, "c": "y"})").dump(2) + "\n")
      << "a member that is gone takes the layout with it";
}

TEST(JsonEdit, AddsAMemberOnALineOfItsOwn) {
  EXPECT_EQ(
      Edited("{\n  \"a\": 1,\n  \"b\": {\"c\": 2}  // last\n}\n", R"({"d": {"e": [3, "f"]}})"),
      "{\n  \"a\": 1,\n  \"b\": {\"c\": 2},  // last\n  \"d\": {\"e\": [3, \"f\"]}\n}\n");
}

TEST(JsonEdit, AddsAMemberToALine) {
  EXPECT_EQ(Edited(R"({"a": {"b": 1}})", R"({"a": {"c": 2}})"), R"({"a": {"b": 1, "c": 2}})");
  EXPECT_EQ(Edited("{\n  \"a\": 1 /* } */ }", R"({"c": 2})"), "{\n  \"a\": 1, \"c\": 2 /* } */ }");
  EXPECT_EQ(Edited("{ }", R"({"c": true})"), "{\"c\": true }");
}

TEST(JsonEdit, FindsElementsAmongComments) {
  auto after = ordered_json::parse(R"([{"a": 1}, {"a": 2}, 3])");
  const std::string text = "[ /* [, */ {\"a\": 1}, // {\n {\"a\": 1}, 3]";
  EXPECT_EQ(EditedJson(text, after), "[ /* [, */ {\"a\": 1}, // {\n {\"a\": 2}, 3]");
  EXPECT_EQ(EditedJson(text, ordered_json::parse(R"([1])")), "[1]");
}

TEST(JsonEdit, NamesMayHaveEscapes) {
  EXPECT_EQ(Edited(R"({"a\"b": 1, "\u0063": 1})", R"({"a\"b": 2, "c": 3})"),
            R"({"a\"b": 2, "\u0063": 3})");
}

}  // namespace
}  // namespace mpsd::tune

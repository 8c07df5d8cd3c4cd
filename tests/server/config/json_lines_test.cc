#include "server/config/json_lines.h"

#include <string>

#include "gtest/gtest.h"

namespace mpsd {
namespace {

TEST(JsonLines, AMemberStandsWhereItsKeyDoes) {
  const JsonLines lines("{\n  \"a\":\n    1,\n  \"b\": {\"c\": 2,\n    \"d\": 3}\n}\n");
  EXPECT_EQ(lines.LineOf(""), 1U);
  EXPECT_EQ(lines.LineOf("a"), 2U);
  EXPECT_EQ(lines.LineOf("b"), 4U);
  EXPECT_EQ(lines.LineOf("b.c"), 4U);
  EXPECT_EQ(lines.LineOf("b.d"), 5U);
}

TEST(JsonLines, AnElementStandsWhereItBegins) {
  const JsonLines lines("{\"a\": [\n 1,\n {\n \"b\": true},\n [null,\n \"x\"]]}");
  EXPECT_EQ(lines.LineOf("a"), 1U);
  EXPECT_EQ(lines.LineOf("a[0]"), 2U);
  EXPECT_EQ(lines.LineOf("a[1]"), 3U);
  EXPECT_EQ(lines.LineOf("a[1].b"), 4U);
  EXPECT_EQ(lines.LineOf("a[2]"), 5U);
  EXPECT_EQ(lines.LineOf("a[2][0]"), 5U);
  EXPECT_EQ(lines.LineOf("a[2][1]"), 6U);
}

TEST(JsonLines, AMemberAfterAListIsAMember) {
  const JsonLines lines("{\"a\": [1, 2],\n\"b\": 1}");
  EXPECT_EQ(lines.LineOf("b"), 2U);
}

TEST(JsonLines, TheRootMayBeginLater) {
  EXPECT_EQ(JsonLines("\n\n{}").LineOf(""), 3U);
  EXPECT_EQ(JsonLines("").LineOf(""), 1U);
}

TEST(JsonLines, UnknownPathsStandAtTheNearestValueAround) {
  const JsonLines lines("{\n\"a\": [\n{\n}]}");
  EXPECT_EQ(lines.LineOf("a[0].b.c"), 3U);
  EXPECT_EQ(lines.LineOf("a[7]"), 2U);
  EXPECT_EQ(lines.LineOf("z"), 1U);
}

TEST(JsonLines, BracketsInStringsAreText) {
  const JsonLines lines("{\"a\": \"}{][,:\\\"\\\\\",\n\"b\": 1}");
  EXPECT_EQ(lines.LineOf("b"), 2U);
}

TEST(JsonLines, CommentsArePassedOver) {
  const JsonLines lines(
      "// \"x\": {\n{ // \"y\": [\n\"a\": /* \"z\": {\n \" \n*/ [1], // }\n\"b\": \"//\", /**/\n"
      "\"c\": \"/*\",\n\"d\": 1 /* * / */}");
  EXPECT_EQ(lines.LineOf("a"), 3U);
  EXPECT_EQ(lines.LineOf("a[0]"), 5U);
  EXPECT_EQ(lines.LineOf("b"), 6U);
  EXPECT_EQ(lines.LineOf("c"), 7U);
  EXPECT_EQ(lines.LineOf("d"), 8U);
  EXPECT_TRUE(lines.repeated().empty());
}

TEST(JsonLines, WindowsLineEndsCountOnce) {
  EXPECT_EQ(JsonLines("{\r\n\"a\": 1,\r\n\"b\": 2}").LineOf("b"), 3U);
}

TEST(JsonLines, EscapedKeysAreTheirText) {
  const JsonLines lines("{\n\"\\u0061b\": 1,\n\"q\\\"\": 1}");
  EXPECT_EQ(lines.LineOf("ab"), 2U);
  EXPECT_EQ(lines.LineOf("['q\\\"']"), 3U);
}

TEST(JsonLines, KeysThatAreNoPlainWordsAreQuoted) {
  EXPECT_EQ(JsonLines("{\n\"a.b\": {\n\"c\": 1}}").LineOf("['a.b'].c"), 3U);
}

TEST(JsonLines, FindsRepeatedMembers) {
  const JsonLines lines("{\"a\": 1,\n\"b\": {\"a\": 1},\n\"a\": 2,\n\"\\u0061\": 3}");
  ASSERT_EQ(lines.repeated().size(), 2U);
  EXPECT_EQ(lines.repeated()[0].path, "a");
  EXPECT_EQ(lines.repeated()[0].line, 3U);
  EXPECT_EQ(lines.repeated()[1].line, 4U);
  EXPECT_EQ(lines.LineOf("a"), 1U);
}

TEST(JsonLines, DeepValuesHaveTheLineOfWhatIsAround) {
  std::string text = "{\n\"a\": ";
  std::string path = "a";
  for (size_t i = 0; i < JsonLines::kMaxDepth + 5; ++i) {
    text += "[\n";
    path += "[0]";
  }
  text += "1";
  text.append(JsonLines::kMaxDepth + 5, ']');
  text += ",\n\"b\": 1}";
  const JsonLines lines(text);
  EXPECT_EQ(lines.LineOf(path), JsonLines::kMaxDepth + 1);
  EXPECT_EQ(lines.LineOf("b"), JsonLines::kMaxDepth + 5 + 3);
}

TEST(JsonLines, BrokenTextsDoNoHarm) {
  for (const char* text : {"\"", "\"\\", "{\"a", "/", "/*", "/* *", "//", "}]", "{,,:", "[}", "{{{",
                           "{\"a\" \"b\"", "{1:2}", "\xff\x00"}) {
    EXPECT_GE(JsonLines(text).LineOf("a.b[3]"), 1U) << text;
  }
}

}  // namespace
}  // namespace mpsd

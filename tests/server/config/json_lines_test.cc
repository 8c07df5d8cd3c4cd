#include "server/config/json_lines.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace mpsd {
namespace {

struct Lines {
  const char* text;
  std::vector<std::pair<const char*, size_t>> lines;  // by path
};

TEST(JsonLines, EachValueHasItsLine) {
  const Lines cases[] = {
      {"{\n  \"a\":\n    1,\n  \"b\": {\"c\": 2,\n    \"d\": 3}\n}\n",
       {{"", 1}, {"a", 2}, {"b", 4}, {"b.c", 4}, {"b.d", 5}}},
      {"{\"a\": [\n 1,\n {\n \"b\": true},\n [null,\n \"x\"]]}",
       {{"a", 1},
        {"a[0]", 2},
        {"a[1]", 3},
        {"a[1].b", 4},
        {"a[2]", 5},
        {"a[2][0]", 5},
        {"a[2][1]", 6}}},
      {"{\"a\": [1, 2],\n\"b\": 1}", {{"b", 2}}},
      {"\n\n{}", {{"", 3}}},
      {"", {{"", 1}}},
      {"{\n\"a\": [\n{\n}]}", {{"a[0].b.c", 3}, {"a[7]", 2}, {"z", 1}}},  // the nearest around
      {"{\"a\": \"}{][,:\\\"\\\\\",\n\"b\": 1}", {{"b", 2}}},
      {"// \"x\": {\n{ // \"y\": [\n\"a\": /* \"z\": {\n \" \n*/ [1], // }\n\"b\": \"//\", /**/\n"
       "\"c\": \"/*\",\n\"d\": 1 /* * / */}",
       {{"a", 3}, {"a[0]", 5}, {"b", 6}, {"c", 7}, {"d", 8}}},
      {"{\r\n\"a\": 1,\r\n\"b\": 2}", {{"b", 3}}},
      {"{\n\"\\u0061b\": 1,\n\"q\\\"\": 1}", {{"ab", 2}, {"['q\\\"']", 3}}},
      {"{\n\"a.b\": {\n\"c\": 1}}", {{"['a.b'].c", 3}}},
  };
  for (const auto& [text, wanted] : cases) {
    const JsonLines lines(text);
    for (const auto& [path, line] : wanted) EXPECT_EQ(lines.LineOf(path), line) << text << path;
    EXPECT_TRUE(lines.repeated().empty()) << text;
  }
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

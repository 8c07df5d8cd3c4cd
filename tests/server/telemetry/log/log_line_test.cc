#include "server/telemetry/log/log_line.h"

#include <cmath>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

constexpr int64_t kMillis = 1'769'860'800'123;  // 2026-01-31T12:00:00.123Z

absl::Time Noon() { return absl::FromUnixMillis(kMillis); }

nlohmann::json Parse(const std::string& line) {
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  return nlohmann::json::parse(line, nullptr, false);
}

TEST(JsonLine, HasTimeLevelEventAndFieldsInOrder) {
  const std::string model = "m";
  EXPECT_EQ(JsonLine(Noon(), LogLevel::kWarn, "worker_died",
                     {{"model", model}, {"epoch", 3}, {"alone", true}, {"seconds", 0.5}}),
            R"({"time":"2026-01-31T12:00:00.123Z","level":"warn","event":"worker_died",)"
            R"("model":"m","epoch":3,"alone":true,"seconds":0.5})");
}

TEST(JsonLine, KeepsWholeNumbersWhole) {
  const auto json =
      Parse(JsonLine(Noon(), LogLevel::kInfo, "e",
                     {{"low", INT64_MIN}, {"high", UINT64_MAX}, {"size", size_t{4}}}));
  EXPECT_EQ(json["low"], INT64_MIN);
  EXPECT_EQ(json["high"], UINT64_MAX);
  EXPECT_EQ(json["size"], 4);
}

TEST(JsonLine, TakesEveryKindOfText) {
  const auto json = Parse(
      JsonLine(Noon(), LogLevel::kInfo, "e",
               {{"a", "literal"}, {"b", std::string("string")}, {"c", absl::string_view("absl")}}));
  EXPECT_EQ(json["a"], "literal");
  EXPECT_EQ(json["b"], "string");
  EXPECT_EQ(json["c"], "absl");
}

TEST(JsonLine, EscapesWhatWouldBreakTheLine) {
  const auto json = Parse(JsonLine(Noon(), LogLevel::kInfo, "a\nb", {{"text", "q\"\\\r\n\x01"}}));
  EXPECT_EQ(json["event"], "a\nb");
  EXPECT_EQ(json["text"], "q\"\\\r\n\x01");
}

TEST(JsonLine, ReplacesBytesThatAreNoUtf8) {
  const auto json = Parse(JsonLine(Noon(), LogLevel::kInfo, "e", {{"text", "a\xff\xfe"}}));
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["text"], "a\uFFFD\uFFFD");
}

TEST(JsonLine, CutsLongTexts) {
  const auto json =
      Parse(JsonLine(Noon(), LogLevel::kInfo, "e", {{"text", std::string(100'000, 'x')}}));
  EXPECT_EQ(json["text"].get<std::string>().size(), 2048);
}

TEST(JsonLine, NotANumberIsStillJson) {
  const auto json = Parse(JsonLine(Noon(), LogLevel::kInfo, "e", {{"x", std::nan("")}}));
  EXPECT_TRUE(json.is_object());
  EXPECT_TRUE(json["x"].is_null());
}

TEST(ReadableLine, IsOneLineOfWords) {
  const std::string line = ReadableLine(Noon(), LogLevel::kInfo, "worker_ready",
                                        {{"model", "m"}, {"pid", 17}, {"why", "two words\n"}});
  EXPECT_EQ(line.substr(12), R"( info  worker_ready model=m pid=17 why="two words\n")");
}

TEST(LogLevel, NamesReadBack) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    EXPECT_EQ(ParseLogLevel(LogLevelName(level)), level);
  }
  EXPECT_EQ(ParseLogLevel("loud"), std::nullopt);
}

}  // namespace
}  // namespace mpsd

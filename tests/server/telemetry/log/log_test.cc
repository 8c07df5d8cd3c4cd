#include "server/telemetry/log/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

// A logger over a pipe that holds everything the tests write.
class LoggerTest : public testing::Test {
 protected:
  LoggerTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    read_end_.Reset(ends[0]);
    logger_ = std::make_unique<Logger>(std::make_unique<LogFile>(UniqueFd(ends[1])),
                                       LogLevel::kInfo, &clock_, &metrics_);
  }

  // Ends the logger, which writes what is queued, and returns every line.
  std::vector<std::string> Lines() {
    logger_.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(read_end_.get(), buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    return absl::StrSplit(text, '\n', absl::SkipEmpty());
  }

  FakeClock clock_;
  ServerMetrics metrics_;
  UniqueFd read_end_;
  std::unique_ptr<Logger> logger_;
};

TEST_F(LoggerTest, WritesJsonLinesInOrder) {
  for (int i = 0; i < 50; ++i) logger_->Log(LogLevel::kInfo, "counted", {{"i", i}});
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 50);
  for (int i = 0; i < 50; ++i) {
    const auto json = nlohmann::json::parse(lines[static_cast<size_t>(i)], nullptr, false);
    ASSERT_TRUE(json.is_object()) << lines[static_cast<size_t>(i)];
    EXPECT_EQ(json["event"], "counted");
    EXPECT_EQ(json["level"], "info");
    EXPECT_EQ(json["i"], i);
  }
  EXPECT_EQ(metrics_.log_lines_dropped, 0);
}

TEST_F(LoggerTest, PercentAndBracesAreNoFormat) {
  logger_->Log(LogLevel::kError, "e", {{"text", "{} %s {0}"}});
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["text"], "{} %s {0}");
}

TEST_F(LoggerTest, LeavesOutLinesBelowItsLevel) {
  logger_->Log(LogLevel::kDebug, "quiet");
  logger_->Set(LogSwitches::Of(LogLevel::kDebug));
  logger_->Log(LogLevel::kDebug, "heard");
  logger_->Set(LogSwitches::Of(LogLevel::kError));
  logger_->Log(LogLevel::kWarn, "quiet");
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["event"], "heard");
  EXPECT_EQ(metrics_.log_lines_dropped, 0);
}

TEST_F(LoggerTest, EachLevelHasASwitch) {
  LogSwitches switches;
  switches.info = switches.error = false;
  switches.verbose_level = 2;
  logger_->Set(switches);
  EXPECT_EQ(logger_->switches(), switches);
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    logger_->Log(level, LogLevelName(level));
  }
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["event"], "debug");
  EXPECT_EQ(nlohmann::json::parse(lines[1])["event"], "warn");
}

TEST_F(LoggerTest, DropsAndCountsWhatExceedsTheRate) {
  for (uint32_t i = 0; i < kLogLinesPerSecond + 30; ++i) logger_->Log(LogLevel::kInfo, "flood");
  EXPECT_EQ(metrics_.log_lines_dropped, 30);
  clock_.Advance(kNsPerSecond / 2);
  for (uint32_t i = 0; i < kLogLinesPerSecond; ++i) logger_->Log(LogLevel::kInfo, "flood");
  EXPECT_EQ(metrics_.log_lines_dropped, 30 + kLogLinesPerSecond / 2);
  EXPECT_EQ(Lines().size(), kLogLinesPerSecond + kLogLinesPerSecond / 2);
}

TEST_F(LoggerTest, ChatterDoesNotHideWarnings) {
  for (uint32_t i = 0; i < 2 * kLogLinesPerSecond; ++i) logger_->Log(LogLevel::kInfo, "chatter");
  logger_->Log(LogLevel::kWarn, "worker_died");
  EXPECT_EQ(metrics_.log_lines_dropped, kLogLinesPerSecond);
  for (uint32_t i = 0; i < kLogLinesPerSecond; ++i) logger_->Log(LogLevel::kError, "flood");
  EXPECT_EQ(metrics_.log_lines_dropped, kLogLinesPerSecond + 1) << "they have a limit too";
}

// Nobody reads the pipe: lines are lost, each is counted, and the logger can still be ended.
TEST_F(LoggerTest, AStuckReaderCostsLinesAndNothingElse) {
  const std::string text(2000, 'x');
  const uint32_t count = 4 * kLogQueueLines;
  for (uint32_t i = 0; i < count; ++i) {
    clock_.Advance(kNsPerSecond / kLogLinesPerSecond);
    logger_->Log(LogLevel::kInfo, "flood", {{"text", text}});
  }
  const size_t written = Lines().size();
  EXPECT_LT(written, count);
  EXPECT_GE(written + metrics_.log_lines_dropped, count);
}

TEST(Logger, OpensAFileByPath) {
  std::string path = testing::TempDir() + "/log_test_XXXXXX";
  const UniqueFd made(mkstemp(path.data()));
  ASSERT_TRUE(made.valid());
  FakeClock clock;
  ServerMetrics metrics;
  auto file = LogFile::Open(path).value();
  {
    Logger logger(std::move(file), LogLevel::kInfo, &clock, &metrics);
    EXPECT_TRUE(logger.Reopen().ok());
    logger.Log(LogLevel::kInfo, "started");
  }
  char text[256] = "";
  EXPECT_GT(read(made.get(), text, sizeof(text) - 1), 0);
  EXPECT_EQ(nlohmann::json::parse(text)["event"], "started");
  unlink(path.c_str());
}

}  // namespace
}  // namespace mpsd

#include "server/supervise/process/worker_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

class WorkerOutputTest : public testing::Test {
 protected:
  void Take(const std::string& bytes) {
    output_.Take(bytes, now_ns_, [this](const std::string& line) { lines_.push_back(line); });
  }
  void End() {
    output_.End(now_ns_, [this](const std::string& line) { lines_.push_back(line); });
  }

  int64_t now_ns_ = kNsPerSecond;
  WorkerOutput output_{now_ns_};
  std::vector<std::string> lines_;
};

TEST_F(WorkerOutputTest, CutsAStreamIntoLines) {
  Take("one\ntw");
  Take("o\n\n\nthree");
  EXPECT_THAT(lines_, ElementsAre("one", "two")) << "empty lines say nothing";
  End();
  EXPECT_THAT(lines_, ElementsAre("one", "two", "three"));
  End();
  EXPECT_EQ(lines_.size(), 3u);
}

TEST_F(WorkerOutputTest, ALineWithoutEndIsCut) {
  Take(std::string(2 * kWorkerLineBytes + 1, 'x'));
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_EQ(lines_[1].size(), kWorkerLineBytes);
}

TEST_F(WorkerOutputTest, DropsAndCountsLinesBeyondTheRate) {
  for (uint32_t i = 0; i < kWorkerLinesPerSecond + 30; ++i) Take(absl::StrCat(i, "\n"));
  EXPECT_EQ(lines_.size(), kWorkerLinesPerSecond);
  EXPECT_EQ(output_.TakeDropped(), 30u);
  EXPECT_EQ(output_.TakeDropped(), 0u) << "each is told once";
  now_ns_ += kNsPerSecond / 10;
  for (uint32_t i = 0; i < 100; ++i) Take("more\n");
  EXPECT_EQ(lines_.size(), kWorkerLinesPerSecond + kWorkerLinesPerSecond / 10);
}

TEST_F(WorkerOutputTest, KeepsTheLastLinesThoseBeyondTheRateToo) {
  for (uint32_t i = 0; i < 1000; ++i) Take(absl::StrCat(i, "\n"));
  ASSERT_EQ(output_.last_lines().size(), kWorkerLinesKept);
  EXPECT_EQ(output_.last_lines().front(), absl::StrCat(1000 - kWorkerLinesKept));
  EXPECT_EQ(output_.last_lines().back(), "999");
}

TEST_F(WorkerOutputTest, WhatIsKeptCanBeShown) {
  Take("plain \"text\"\n\x1b[31mred \xff\n");
  EXPECT_THAT(output_.last_lines(), ElementsAre("plain \"text\"", "\\033[31mred \\377"));
}

TEST(Printable, EscapesOnlyWhatCannotBeShown) {
  EXPECT_EQ(Printable("naïve – 日本 \xff\t😀"), "naïve – 日本 \\377\\t😀");
  EXPECT_EQ(Printable("a\xC2\x9B"
                      "31m"),
            "a\\302\\23331m")
      << "begins a command as ESC [ does";
  EXPECT_EQ(Printable("caf\xC3"), "caf\\303") << "half a character";
}

TEST(Printable, IsALineAtMost) {
  EXPECT_EQ(Printable(std::string(kWorkerLineBytes, 'x')), std::string(kWorkerLineBytes, 'x'));
  EXPECT_EQ(Printable(std::string(4 << 20, 'x')), std::string(kWorkerLineBytes, 'x'));
  EXPECT_EQ(Printable(std::string(4 << 20, '\x1b')).size(), kWorkerLineBytes) << "escaped";
  const std::string wide = Printable("x" + std::string(kWorkerLineBytes, '\xff'));
  EXPECT_LE(wide.size(), kWorkerLineBytes);
  EXPECT_EQ(wide.substr(wide.size() - 4), "\\377") << "no half of an escape";
}

}  // namespace
}  // namespace mpsd

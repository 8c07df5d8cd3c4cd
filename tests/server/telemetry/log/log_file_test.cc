#include "server/telemetry/log/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

class LogFileTest : public testing::Test {
 protected:
  const WorkFolder work_;
  const std::string path_ = work_.PathOf("mpsd.log");
};

TEST_F(LogFileTest, Appends) {
  work_.Write(path_, "before\n");
  auto file = LogFile::Open(path_).value();
  EXPECT_TRUE(file->Write("one"));
  EXPECT_TRUE(file->Write("two"));
  EXPECT_EQ(work_.Read(path_), "before\none\ntwo\n");
  EXPECT_FALSE(file->IsTerminal());
}

TEST_F(LogFileTest, ReopenFollowsARotation) {
  auto file = LogFile::Open(path_).value();
  file->Write("old");
  ASSERT_EQ(std::rename(path_.c_str(), (path_ + ".1").c_str()), 0);
  file->Write("still old");
  ASSERT_TRUE(file->Reopen().ok());
  file->Write("new");
  EXPECT_EQ(work_.Read(path_ + ".1"), "old\nstill old\n");
  EXPECT_EQ(work_.Read(path_), "new\n");
}

TEST_F(LogFileTest, AMissingFolderIsAnError) {
  const std::string path = work_.PathOf("none/spans");
  EXPECT_EQ(LogFile::Open(path).status(),
            absl::UnavailableError("cannot open " + path + ": No such file or directory"));
}

TEST_F(LogFileTest, APipeWithoutAReaderIsAnErrorAndNoWait) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(LogFile::Open(path_).status().code(), absl::StatusCode::kUnavailable);
  UniqueFd reader(open(path_.c_str(), O_RDONLY | O_NONBLOCK));
  auto file = LogFile::Open(path_).value();
  EXPECT_TRUE(file->Write("one"));
  reader.Reset();
  EXPECT_FALSE(file->Reopen().ok());
}

TEST_F(LogFileTest, AFullDiskLosesTheLine) {
  UniqueFd full(open("/dev/full", O_WRONLY));
  if (!full.valid()) GTEST_SKIP() << "this system has no /dev/full";
  LogFile file(std::move(full));
  EXPECT_FALSE(file.Write("lost"));
}

// A pipe without a reader at work: lines are lost, no call hangs, and the lines that come through
// later are whole.
TEST_F(LogFileTest, AFullPipeLosesLinesAndRecovers) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  LogFile file{UniqueFd(ends[1])};
  const std::string line(1000, 'x');
  int written = 0;
  while (file.Write(line)) ++written;
  ASSERT_GT(written, 0);
  EXPECT_FALSE(file.Write(line));

  std::string text(static_cast<size_t>(written) * (line.size() + 1), '\0');
  for (size_t got = 0; got < text.size();) {
    const ssize_t n = read(read_end.get(), text.data() + got, text.size() - got);
    ASSERT_GT(n, 0);
    got += static_cast<size_t>(n);
  }
  EXPECT_TRUE(file.Write("after"));
  char tail[16] = "";
  ASSERT_EQ(read(read_end.get(), tail, sizeof(tail)), 6);
  EXPECT_STREQ(tail, "after\n");
}

// A line that a pipe takes half of does not run into the next one.
TEST_F(LogFileTest, ALineLostHalfwayEndsBeforeTheNext) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  LogFile file{UniqueFd(ends[1])};
  ASSERT_FALSE(file.Write(std::string(4 << 20, 'x')));
  std::string half(4 << 20, '\0');
  const ssize_t n = read(read_end.get(), half.data(), half.size());
  ASSERT_GT(n, 0);
  EXPECT_EQ(half[static_cast<size_t>(n) - 1], 'x');
  EXPECT_TRUE(file.Write("after"));
  char tail[16] = "";
  ASSERT_EQ(read(read_end.get(), tail, sizeof(tail)), 7);
  EXPECT_STREQ(tail, "\nafter\n");
}

}  // namespace
}  // namespace mpsd

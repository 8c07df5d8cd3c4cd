#include "proto/files/file_stamp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "proto/base/clock.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

class FileStampTest : public testing::Test {
 protected:
  static void SetModified(const std::string& path, timespec modified) {
    const timespec times[] = {modified, modified};  // last access, last change
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  const WorkFolder work_;
  const std::string path_ = work_.Write("file", "content");
};

TEST_F(FileStampTest, IsTheSameAsLongAsTheFileIs) {
  EXPECT_EQ(StampOf(path_), StampOf(path_));
  EXPECT_EQ(StampOf(path_).bytes, 7U);
  EXPECT_NE(StampOf(path_).inode, 0U);
}

TEST_F(FileStampTest, HasTheTimeToTheNanosecond) {
  SetModified(path_, {.tv_sec = 1'700'000'000, .tv_nsec = 123'456'789});
  EXPECT_EQ(StampOf(path_).modified_ns, 1'700'000'000 * kNsPerSecond + 123'456'789);
}

TEST_F(FileStampTest, IsAnotherOneAfterAChange) {
  const FileStamp before = StampOf(path_);
  work_.Write(path_, "other content");
  EXPECT_NE(StampOf(path_), before);
}

TEST_F(FileStampTest, OfSeveralFilesIsAnotherOneOnceOneHas) {
  const std::string other = path_ + ".other";
  EXPECT_EQ(StampOfFiles({other}), FileStamp()) << "it is not there";
  const FileStamp alone = StampOfFiles({path_, other});
  EXPECT_EQ(alone, StampOfFiles({path_, other}));
  work_.Write(other, "content");
  const FileStamp both = StampOfFiles({path_, other});
  EXPECT_NE(both, alone);
  work_.Write(other, "changed content");
  EXPECT_NE(StampOfFiles({path_, other}), both);
  unlink(other.c_str());
  EXPECT_EQ(StampOfFiles({path_, other}), alone);
}

TEST_F(FileStampTest, IsAnotherOneForAFileThatTookThePlace) {
  const timespec modified = {.tv_sec = 1'700'000'000, .tv_nsec = 0};
  SetModified(path_, modified);
  const FileStamp before = StampOf(path_);
  work_.Write(path_ + ".new", "CONTENT");
  SetModified(path_ + ".new", modified);
  ASSERT_EQ(std::rename((path_ + ".new").c_str(), path_.c_str()), 0);
  EXPECT_EQ(StampOf(path_).bytes, before.bytes);
  EXPECT_NE(StampOf(path_), before);
}

TEST_F(FileStampTest, OfAFolderChangesWithAFileInIt) {
  const std::string folder = path_ + ".folder";
  work_.Write(folder + "/config.json", "content");
  work_.Write(folder + "/1_Pooling/config.json", "content");
  const FileStamp first = StampOf(folder);
  EXPECT_EQ(StampOf(folder), first);
  EXPECT_EQ(first.bytes, 14U);
  SetModified(folder + "/1_Pooling/config.json", {.tv_sec = 1'700'000'000, .tv_nsec = 0});
  const FileStamp second = StampOf(folder);
  EXPECT_NE(second, first);
  work_.Write(folder + "/.DS_Store", "left by a desktop");
  work_.Write(folder + "/training_args.bin", "left by a training");
  EXPECT_EQ(StampOf(folder), second);
  work_.Write(folder + "/1_Pooling/pytorch_model.bin", "weights");
  EXPECT_NE(StampOf(folder), second);
  std::filesystem::remove(folder + "/1_Pooling/pytorch_model.bin");
  std::filesystem::rename(folder + "/config.json", folder + "/other.json");
  EXPECT_NE(StampOf(folder), second);
}

TEST_F(FileStampTest, OfNoFileIsZero) { EXPECT_EQ(StampOf(path_ + ".none"), FileStamp{}); }

TEST_F(FileStampTest, AnOpenFileKeepsItsContentsWhenAnotherTakesItsPlace) {
  const UniqueFd fd = OpenAsStamped(path_, StampOf(path_));
  ASSERT_TRUE(fd.valid());
  work_.Write(path_ + ".new", "another");
  ASSERT_EQ(std::rename((path_ + ".new").c_str(), path_.c_str()), 0);
  char bytes[16] = {};
  EXPECT_EQ(read(fd.get(), bytes, sizeof(bytes)), 7);
  EXPECT_STREQ(bytes, "content");
}

TEST_F(FileStampTest, AnotherFileAFolderAndAFifoAreNotOpened) {
  const FileStamp before = StampOf(path_);
  work_.Write(path_, "other content");
  EXPECT_FALSE(OpenAsStamped(path_, before).valid());
  EXPECT_FALSE(OpenAsStamped(testing::TempDir(), StampOf(testing::TempDir())).valid());
  EXPECT_FALSE(OpenAsStamped("", {}).valid());
  unlink(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(OpenAsStamped(path_, StampOf(path_)).valid());
}

}  // namespace
}  // namespace mpsd

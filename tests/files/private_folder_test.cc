#include "proto/files/private_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class PrivateFolderTest : public testing::Test {
 protected:
  static std::string Refusal(const std::string& path) {
    const absl::Status status = MakePrivateFolder(path);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    return std::string(status.message());
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(lstat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  const WorkFolder work_;
  const std::string top_ = work_.path();
  const std::string folder_ = top_ + "/folder";
};

TEST_F(PrivateFolderTest, IsMadeForItsUserAlone) {
  const mode_t before = umask(0);
  EXPECT_TRUE(MakePrivateFolder(folder_).ok());
  umask(before);
  EXPECT_EQ(ModeOf(folder_), 0700u);
  EXPECT_TRUE(MakePrivateFolder(folder_).ok()) << "it is there already";
}

TEST_F(PrivateFolderTest, MayBeReadByOthersWhereItIsThereAlready) {
  ASSERT_EQ(mkdir(folder_.c_str(), 0755), 0);
  chmod(folder_.c_str(), 0755);
  EXPECT_TRUE(MakePrivateFolder(folder_).ok());
  EXPECT_EQ(ModeOf(folder_), 0755u) << "it may be a folder of the user's, which is left alone";
}

TEST_F(PrivateFolderTest, OthersMayNotWriteToIt) {
  ASSERT_EQ(mkdir(folder_.c_str(), 0700), 0);
  for (const mode_t mode : {0720, 0702, 01777}) {
    chmod(folder_.c_str(), mode);
    EXPECT_THAT(Refusal(folder_), HasSubstr("other users may write to")) << mode;
  }
}

TEST_F(PrivateFolderTest, IsNoLinkAndNoFile) {
  ASSERT_EQ(mkdir((top_ + "/real").c_str(), 0700), 0);
  std::filesystem::create_symlink(top_ + "/real", folder_);
  EXPECT_THAT(Refusal(folder_), HasSubstr("must be a folder"));
  EXPECT_THAT(Refusal(work_.Write("file")), HasSubstr("must be a folder"));
}

TEST_F(PrivateFolderTest, BelongsToItsUser) {
  ASSERT_EQ(mkdir(folder_.c_str(), 0700), 0);
  if (geteuid() != 0) GTEST_SKIP() << "only a superuser can give a folder away";
  ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
  EXPECT_THAT(Refusal(folder_), HasSubstr("belongs to user 65534"));
}

TEST_F(PrivateFolderTest, NeedsItsParent) {
  EXPECT_TRUE(absl::IsNotFound(MakePrivateFolder(top_ + "/none/folder")));
}

}  // namespace
}  // namespace mpsd

#include "server/operate/handover/instance_lock.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class InstanceLockTest : public testing::Test {
 protected:
  const WorkFolder work_;
  const std::string folder_ = work_.path();
};

TEST_F(InstanceLockTest, IsTakenOnce) {
  const InstanceLock first = InstanceLock::Take(folder_).value();
  const absl::Status second = InstanceLock::Take(folder_).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.message()), HasSubstr("process " + std::to_string(getpid())));
  EXPECT_THAT(std::string(second.message()), HasSubstr(folder_ + "/mpsd.lock"));
}

TEST_F(InstanceLockTest, IsFreeAgainOnceItIsLetGo) {
  { ASSERT_TRUE(InstanceLock::Take(folder_).ok()); }
  EXPECT_TRUE(InstanceLock::Take(folder_).ok());
}

TEST_F(InstanceLockTest, MakesTheFolder) {
  const std::string folder = folder_ + "/a/b";
  EXPECT_TRUE(InstanceLock::Take(folder).ok());
  EXPECT_TRUE(std::filesystem::exists(folder + "/mpsd.lock"));
}

TEST_F(InstanceLockTest, AnotherFolderIsAnotherLock) {
  const absl::StatusOr<InstanceLock> first = InstanceLock::Take(folder_ + "/a");
  EXPECT_TRUE(InstanceLock::Take(folder_ + "/b").ok());
}

TEST_F(InstanceLockTest, TheFolderIsForItsUserAlone) {
  const std::string folder = folder_ + "/a";
  ASSERT_TRUE(InstanceLock::Take(folder + "/").ok());
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
  EXPECT_EQ(std::filesystem::status(folder + "/mpsd.lock").permissions(),
            perms::owner_read | perms::owner_write);
}

TEST_F(InstanceLockTest, AFolderToWhichOthersMayWriteIsNotTrusted) {
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  const absl::Status status = InstanceLock::Take(folder_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("state_dir: other users may write to"));
}

TEST_F(InstanceLockTest, ALinkInItsPlaceIsNotWrittenThrough) {
  const std::string other = folder_ + "/other";
  for (const bool by_symbol : {true, false}) {
    work_.Write(other, "precious");
    by_symbol ? std::filesystem::create_symlink(other, folder_ + "/mpsd.lock")
              : std::filesystem::create_hard_link(other, folder_ + "/mpsd.lock");
    EXPECT_TRUE(absl::IsFailedPrecondition(InstanceLock::Take(folder_).status()));
    EXPECT_EQ(work_.Read(other), "precious");
    std::filesystem::remove(folder_ + "/mpsd.lock");
  }
}

TEST_F(InstanceLockTest, AFolderThatCannotBeIsAnError) {
  EXPECT_FALSE(InstanceLock::Take("/dev/null/folder").ok());
}

TEST_F(InstanceLockTest, TellsWhoHoldsIt) {
  EXPECT_TRUE(absl::IsNotFound(InstanceLock::HolderOf(folder_).status()));
  {
    const absl::StatusOr<InstanceLock> lock = InstanceLock::Take(folder_);
    const InstanceLock::Holder holder = InstanceLock::HolderOf(folder_).value();
    EXPECT_EQ(holder.pid, getpid());
    EXPECT_EQ(holder.version, MPSD_VERSION);
  }
  // The file still has the number of a process that runs, but nobody holds the lock.
  EXPECT_TRUE(absl::IsNotFound(InstanceLock::HolderOf(folder_).status()));
  EXPECT_TRUE(InstanceLock::Take(folder_).ok());
}

}  // namespace
}  // namespace mpsd

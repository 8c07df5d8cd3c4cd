#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "proto/base/fd.h"
#include "server/supervise/process/folder_remover.h"

namespace mpsd {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class FolderTreeTest : public testing::Test {
 protected:
  FolderTreeTest() {
    std::string made = testing::TempDir() + "/folder_tree_XXXXXX";
    top_ = mkdtemp(made.data());
    folder_ = top_ / "folder";
    fs::create_directory(folder_);
  }
  ~FolderTreeTest() override { RemoveTree(top_).IgnoreError(); }

  void ExpectRemoved() {
    const absl::Status status = RemoveTree(folder_);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_FALSE(fs::exists(fs::symlink_status(folder_)));
  }

  fs::path top_;
  fs::path folder_;
};

TEST_F(FolderTreeTest, IsRemovedWithAllThatIsInIt) {
  fs::create_directories(folder_ / "a/b/c");
  fs::create_directories(folder_ / "d");
  for (const char* file : {"1", "a/2", "a/b/3", "a/b/c/4", ".moved-0"}) {
    std::ofstream(folder_ / file) << "x";
  }
  mkfifo((folder_ / "fifo").c_str(), 0);
  ExpectRemoved();
}

TEST_F(FolderTreeTest, WhatALinkNamesStays) {
  std::ofstream(top_ / "kept") << "x";
  fs::create_directory(top_ / "kept-folder");
  fs::permissions(top_ / "kept-folder", fs::perms::owner_read);
  fs::create_symlink(top_ / "kept", folder_ / "file");
  fs::create_directory_symlink(top_ / "kept-folder", folder_ / "folder");
  ExpectRemoved();
  EXPECT_TRUE(fs::exists(top_ / "kept"));
  EXPECT_EQ(fs::status(top_ / "kept-folder").permissions(), fs::perms::owner_read);
  fs::create_directory_symlink(top_ / "kept-folder", folder_);
  ExpectRemoved();
  EXPECT_TRUE(fs::exists(top_ / "kept-folder")) << "nor is the folder itself followed";
}

// Deeper than a path can say, than there are descriptors, and than a stack bears.
TEST_F(FolderTreeTest, MayBeOfAnyDepth) {
  UniqueFd at(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 30'000; ++depth) {
    ASSERT_EQ(mkdirat(at.get(), "d", 0700), 0);
    at = UniqueFd(openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid()) << depth;
  }
  at.Reset();
  ExpectRemoved();
}

// In a process without privileges, since no mode binds a superuser.
TEST_F(FolderTreeTest, MayHaveAnyModes) {
  if (geteuid() == 0) {
    ASSERT_EQ(chown(top_.c_str(), kNobody, kNobody), 0);
    fs::remove(folder_);
  }
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(2);
    for (const mode_t mode : {0300, 0500, 0000}) {
      fs::create_directories(folder_ / "a/b");
      std::ofstream(folder_ / "a/b/file") << "x";
      for (const char* inner : {"a/b", "a", "."}) chmod((folder_ / inner).c_str(), mode);
      if (!RemoveTree(folder_).ok()) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(FolderTreeTest, ThatHoldsTooMuchIsLeft) {
  for (int i = 0; i < 20; ++i) std::ofstream(folder_ / std::to_string(i)) << "x";
  const absl::Status status = RemoveTree(folder_, 10);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 10);
  ExpectRemoved();
}

TEST_F(FolderTreeTest, ThatIsNotThereIsRemoved) {
  fs::remove(folder_);
  ExpectRemoved();
}

}  // namespace
}  // namespace mpsd

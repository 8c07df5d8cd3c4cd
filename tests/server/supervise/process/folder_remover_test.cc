#include "server/supervise/process/folder_remover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace mpsd {
namespace {

namespace fs = std::filesystem;

void IgnoreGivenUp(const std::string&, const absl::Status&) {}

TEST(FolderRemover, HasRemovedAllWhenItEnds) {
  std::string made = testing::TempDir() + "/folder_remover_XXXXXX";
  ASSERT_NE(mkdtemp(made.data()), nullptr);
  const fs::path top = made;
  std::ofstream(top / "kept") << "not in any of them";
  {
    FolderRemover remover(IgnoreGivenUp);
    remover.Start();
    for (int i = 0; i < 20; ++i) {
      const fs::path folder = top / std::to_string(i);
      fs::create_directories(folder / "a/b");
      std::ofstream(folder / "a/b/file") << "left behind";
      fs::create_symlink(top / "kept", folder / "link");
      remover.Remove(folder);
    }
    remover.Remove(top / "never made");
  }
  EXPECT_TRUE(fs::exists(top / "kept")) << "a link is removed, not followed";
  EXPECT_EQ(std::distance(fs::directory_iterator(top), fs::directory_iterator()), 1);
  fs::remove_all(top);
}

TEST(FolderRemover, TriesAgainWhatCannotBeRemoved) {
  std::vector<std::string> tried;
  {
    FolderRemover remover(
        [](const std::string& folder, const absl::Status&) { ADD_FAILURE() << folder; },
        [&tried](const std::string& folder) {
          tried.push_back(folder);
          const bool goes = folder == "easy" || std::count(tried.begin(), tried.end(), folder) == 3;
          return goes ? absl::OkStatus() : absl::PermissionDeniedError("not yet");
        },
        absl::ZeroDuration());
    remover.Start();
    remover.Remove("hard");
    remover.Remove("easy");
  }
  EXPECT_EQ(std::count(tried.begin(), tried.end(), "hard"), 3);
  EXPECT_EQ(std::count(tried.begin(), tried.end(), "easy"), 1);
}

TEST(FolderRemover, GivesUpWhatNeverGoesAndSaysSo) {
  int tries = 0;
  std::vector<std::string> given_up;
  {
    FolderRemover remover(
        [&given_up](const std::string& folder, const absl::Status& why) {
          given_up.push_back(folder + ": " + std::string(why.message()));
        },
        [&tries](const std::string&) {
          ++tries;
          return absl::PermissionDeniedError("never");
        },
        absl::ZeroDuration());
    remover.Start();
    remover.Remove("stays");
  }
  EXPECT_EQ(tries, FolderRemover::kTries);
  EXPECT_EQ(given_up, std::vector<std::string>{"stays: never"});
}

TEST(FolderRemover, NeedsNothingToDo) {
  FolderRemover remover(IgnoreGivenUp);
  remover.Start();
}

TEST(FolderRemover, NeedsNoThreadThatNobodyStarted) { FolderRemover remover(IgnoreGivenUp); }

// A worker dies whenever it likes, also when the host has no thread to give.
TEST(FolderRemover, StartsNoThreadLater) {
  FolderRemover remover(IgnoreGivenUp);
  remover.Start();
  const auto threads = [] {
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  };
  const auto before = threads();
  remover.Remove("/nowhere/folder");
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace mpsd

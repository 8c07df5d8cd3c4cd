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

TEST(FolderRemover, HasRemovedAllWhenItEnds) {
  std::string made = testing::TempDir() + "/folder_remover_XXXXXX";
  ASSERT_NE(mkdtemp(made.data()), nullptr);
  const fs::path top = made;
  std::ofstream(top / "kept") << "not in any of them";
  {
    FolderRemover remover;
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
        [&tried](const std::string& folder) {
          tried.push_back(folder);
          return folder == "easy" || std::count(tried.begin(), tried.end(), folder) == 3;
        },
        absl::ZeroDuration());
    remover.Remove("hard");
    remover.Remove("easy");
  }
  EXPECT_EQ(std::count(tried.begin(), tried.end(), "hard"), 3);
  EXPECT_EQ(std::count(tried.begin(), tried.end(), "easy"), 1);
}

TEST(FolderRemover, GivesUpWhatNeverGoes) {
  int tries = 0;
  {
    FolderRemover remover([&tries](const std::string&) { return ++tries < 0; },
                          absl::ZeroDuration());
    remover.Remove("stays");
  }
  EXPECT_EQ(tries, FolderRemover::kTries);
}

TEST(FolderRemover, NeedsNothingToDo) { FolderRemover remover; }

}  // namespace
}  // namespace mpsd

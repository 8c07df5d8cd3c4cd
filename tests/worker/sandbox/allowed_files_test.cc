#include "worker/sandbox/allowed_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

std::optional<FileUse> UseOf(const std::vector<AllowedPath>& allowed, const std::string& path) {
  for (const AllowedPath& entry : allowed) {
    if (entry.path == path) return entry.use;
  }
  return std::nullopt;
}

SandboxOptions CpuOptions() {
  SandboxOptions options;
  options.device = "cpu";
  options.model_file = "/models/m.pt";
  options.temporary_folder = "/run/mpsd/workers/m-0";
  return options;
}

TEST(AllowedFiles, TheModelIsReadAndTheTemporaryFolderWritten) {
  const std::vector<AllowedPath> allowed = AllowedFiles(CpuOptions());
  EXPECT_EQ(UseOf(allowed, "/models/m.pt"), FileUse::kRead);
  EXPECT_EQ(UseOf(allowed, "/models"), std::nullopt);
  EXPECT_EQ(UseOf(allowed, "/run/mpsd/workers/m-0"), FileUse::kScratch);
  EXPECT_EQ(std::count_if(allowed.begin(), allowed.end(),
                          [](const AllowedPath& path) { return path.use == FileUse::kScratch; }),
            1);
}

// A cache of Hugging Face's with one snapshot, and a file of the host beside it.
class ModelLinksTest : public testing::Test {
 protected:
  ModelLinksTest() {
    std::filesystem::create_directories(snapshot_ / "1_Pooling");
    std::filesystem::create_directories(root_ / "cache/blobs");
    for (const char* file : {"secret.json", "cache/blobs/weights", "cache/blobs/words"}) {
      std::ofstream(root_ / file) << "text";
    }
  }
  ~ModelLinksTest() override { std::filesystem::remove_all(root_); }

  void Link(const std::string& target, const std::string& name) const {
    std::filesystem::create_symlink(target, snapshot_ / name);
  }
  std::optional<FileUse> UseOfFile(const std::string& file) const {
    SandboxOptions options = CpuOptions();
    options.model_file = snapshot_.string();
    return UseOf(AllowedFiles(options), std::filesystem::canonical(root_ / file).string());
  }

  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / absl::StrCat("mpsd_links_", getpid());
  const std::filesystem::path snapshot_ = root_ / "cache/snapshots/0123";
};

TEST_F(ModelLinksTest, LeadToTheFilesThatSnapshotsShare) {
  Link("../../blobs/weights", "model.safetensors");
  Link("../../../blobs/words", "1_Pooling/config.json");
  EXPECT_EQ(UseOfFile("cache/blobs/weights"), FileUse::kRead);
  EXPECT_EQ(UseOfFile("cache/blobs/words"), FileUse::kRead);
}

TEST_F(ModelLinksTest, OpenNothingElseOfTheHost) {
  Link("../../../secret.json", "model.safetensors");
  Link((root_ / "secret.json").string(), "1_Pooling/config.json");
  EXPECT_EQ(UseOfFile("secret.json"), std::nullopt);
}

TEST_F(ModelLinksTest, OfNamesThatNoLoaderReadsAreNotFollowed) {
  Link("../../blobs/weights", "model.bin");
  EXPECT_EQ(UseOfFile("cache/blobs/weights"), std::nullopt);
}

TEST_F(ModelLinksTest, FromAnyOtherFolderLeadNotToItsNeighbours) {
  std::filesystem::rename(root_ / "cache/snapshots", root_ / "cache/models");
  SandboxOptions options = CpuOptions();
  options.model_file = (root_ / "cache/models/0123").string();
  std::filesystem::create_symlink("../../blobs/weights", options.model_file + "/a.safetensors");
  const auto target = std::filesystem::canonical(root_ / "cache/blobs/weights").string();
  EXPECT_EQ(UseOf(AllowedFiles(options), target), std::nullopt);
}

TEST(AllowedFiles, OfProcOnlyTheOwnFolder) {
  const std::vector<AllowedPath> allowed = AllowedFiles(CpuOptions());
  EXPECT_EQ(UseOf(allowed, absl::StrCat("/proc/", getpid())), FileUse::kRead);
  EXPECT_EQ(UseOf(allowed, "/proc"), std::nullopt);
  EXPECT_EQ(UseOf(allowed, "/etc"), std::nullopt);
  EXPECT_EQ(UseOf(allowed, "/dev"), std::nullopt);
}

TEST(AllowedFiles, OfItsOwnFolderStrictLeavesSingleFiles) {
  SandboxOptions options = CpuOptions();
  options.level = SandboxLevel::kStrict;
  const std::vector<AllowedPath> allowed = AllowedFiles(options);
  const std::string own = absl::StrCat("/proc/", getpid());
  EXPECT_EQ(UseOf(allowed, own + "/maps"), FileUse::kRead);
  EXPECT_EQ(UseOf(allowed, own + "/status"), FileUse::kRead);
  for (const char* closed : {"", "/net", "/mountinfo", "/task", "/fd", "/mem"}) {
    EXPECT_EQ(UseOf(allowed, own + closed), std::nullopt) << closed;
  }
}

TEST(AllowedFiles, WhereTheLibrariesCameFrom) {
  ASSERT_EQ(setenv("LD_LIBRARY_PATH", "/opt/a/lib::relative:/opt/b/lib", 1), 0);
  const std::vector<AllowedPath> allowed = AllowedFiles(CpuOptions());
  unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(UseOf(allowed, "/opt/a/lib"), FileUse::kRead);
  EXPECT_EQ(UseOf(allowed, "/opt/b/lib"), FileUse::kRead);
  EXPECT_EQ(UseOf(allowed, "relative"), std::nullopt);
}

TEST(AllowedFiles, ADeviceBringsTheFolderOfItsService) {
  ASSERT_EQ(setenv("CUDA_MPS_PIPE_DIRECTORY", "/run/mps-pipes", 1), 0);
  SandboxOptions options = CpuOptions();
  EXPECT_EQ(UseOf(AllowedFiles(options), "/run/mps-pipes"), std::nullopt);
  options.device = "cuda:0";
  EXPECT_EQ(UseOf(AllowedFiles(options), "/run/mps-pipes"), FileUse::kDevice);
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
}

}  // namespace
}  // namespace mpsd

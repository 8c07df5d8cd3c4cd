#include "proto/files/kept_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "proto/base/limits.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

class KeptFolderTest : public testing::Test {
 protected:
  KeptFolderTest() {
    work_.Write("config.json", "{}");
    work_.Write("1_Pooling/config.json", "{\"a\": 1}");
    work_.Write("model.safetensors", "weights");
    work_.Write("tokenizer.json", "words");
    work_.Write("README.md", "read me");
  }

  HandedFolder Handed() const {
    KeptFolder kept = KeepFolder(folder_, StampOf(folder_));
    return *HandedFolder::Of(std::move(kept.files), std::move(kept.descriptors));
  }

  static std::string Read(const HandedFolder& folder, const std::string& name) {
    const auto file = folder.Find(name);
    if (!file.has_value()) return "none";
    std::string content(file->bytes, '\0');
    EXPECT_EQ(pread(file->fd, content.data(), content.size(), 0),
              static_cast<ssize_t>(content.size()));
    return content;
  }

  const WorkFolder work_;
  const std::filesystem::path folder_ = work_.path();
};

TEST_F(KeptFolderTest, HasWhatAWorkerReads) {
  const HandedFolder folder = Handed();
  EXPECT_EQ(Read(folder, "config.json"), "{}");
  EXPECT_EQ(Read(folder, "1_Pooling/config.json"), "{\"a\": 1}");
  EXPECT_EQ(Read(folder, "model.safetensors"), "weights");
  EXPECT_EQ(Read(folder, "tokenizer.json"), "none");
  EXPECT_EQ(Read(folder, "README.md"), "none");
  EXPECT_TRUE(folder.IsUnchanged());
}

TEST_F(KeptFolderTest, StaysAsItIsWhenFilesTakeTheirPlaces) {
  const HandedFolder folder = Handed();
  work_.Replace("config.json", "[]");
  work_.Replace("model.safetensors", "others");
  std::filesystem::remove(folder_ / "1_Pooling/config.json");
  EXPECT_EQ(Read(folder, "config.json"), "{}");
  EXPECT_EQ(Read(folder, "1_Pooling/config.json"), "{\"a\": 1}");
  EXPECT_EQ(Read(folder, "model.safetensors"), "weights");
  EXPECT_TRUE(folder.IsUnchanged());
}

TEST_F(KeptFolderTest, SmallFilesMayBeWrittenAnewAndWeightsMayNot) {
  const HandedFolder folder = Handed();
  work_.Write("config.json", "[]");
  work_.Write("tokenizer.json", "others");
  EXPECT_EQ(Read(folder, "config.json"), "{}");
  EXPECT_TRUE(folder.IsUnchanged());
  work_.Write("model.safetensors", "other weights");
  EXPECT_FALSE(folder.IsUnchanged());
}

TEST_F(KeptFolderTest, IsEmptyWhereTheFolderHasChanged) {
  const FileStamp stamp = StampOf(folder_);
  work_.Replace("config.json", "[1]");
  EXPECT_TRUE(KeepFolder(folder_, stamp).files.empty());
  EXPECT_FALSE(KeepFolder(folder_, StampOf(folder_)).files.empty());
}

// A worker may not read such a file by its name either.
TEST_F(KeptFolderTest, IsEmptyWhereALinkLeadsOutOfTheFolder) {
  std::filesystem::create_symlink("config.json", folder_ / "linked.json");
  EXPECT_EQ(Read(Handed(), "linked.json"), "{}");
  std::filesystem::create_symlink("/etc/passwd", folder_ / "other.json");
  EXPECT_TRUE(KeepFolder(folder_, StampOf(folder_)).files.empty());
}

// The worker's own words say what is wrong with such a file.
TEST_F(KeptFolderTest, IsEmptyWhereAFileCannotBeRead) {
  std::filesystem::remove(folder_ / "config.json");
  ASSERT_EQ(mkfifo((folder_ / "config.json").c_str(), 0600), 0);
  EXPECT_TRUE(KeepFolder(folder_, StampOf(folder_)).files.empty());
}

TEST_F(KeptFolderTest, IsEmptyWhereThereAreMoreFilesThanAMessageCarries) {
  for (uint32_t i = 3; i < kMaxMessageFds; ++i) work_.Write(std::to_string(i) + ".json", "{}");
  EXPECT_EQ(KeepFolder(folder_, StampOf(folder_)).files.size(), kMaxMessageFds);
  work_.Write("more.json", "{}");
  EXPECT_TRUE(KeepFolder(folder_, StampOf(folder_)).files.empty());
}

TEST_F(KeptFolderTest, EachFileNeedsItsDescriptor) {
  KeptFolder kept = KeepFolder(folder_, StampOf(folder_));
  kept.descriptors.pop_back();
  EXPECT_FALSE(HandedFolder::Of(std::move(kept.files), std::move(kept.descriptors)).ok());
}

}  // namespace
}  // namespace mpsd

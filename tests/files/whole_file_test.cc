#include "proto/files/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

class ReadRegularFileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return work_.PathOf(name); }
  absl::StatusCode CodeOf(const std::string& name) const {
    return ReadRegularFile(Path(name), 100).status().code();
  }

  const WorkFolder work_;
};

TEST_F(ReadRegularFileTest, AFileOrALinkToOne) {
  ASSERT_TRUE(WriteWholeFile(Path("file"), "content").ok());
  std::filesystem::create_symlink("file", Path("link"));
  EXPECT_EQ(*ReadRegularFile(Path("file"), 7), "content");
  EXPECT_EQ(*ReadRegularFile(Path("link"), 7), "content");
  EXPECT_EQ(ReadRegularFile(Path("file"), 6).status().message(),
            Path("file") + " has more than 6 bytes");
}

// An open() that waited would never return: nobody writes to the pipe.
TEST_F(ReadRegularFileTest, APipeIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", Path("link"));
  for (const char* name : {"pipe", "link"}) {
    const absl::Status status = ReadRegularFile(Path(name), 100).status();
    EXPECT_EQ(status, absl::InvalidArgumentError(Path(name) + " is no file"));
  }
}

TEST_F(ReadRegularFileTest, AFolderADeviceAndNothing) {
  std::filesystem::create_symlink("/dev/null", Path("device"));
  std::filesystem::create_symlink("nothing", Path("dangling"));
  EXPECT_EQ(CodeOf("."), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf("device"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf("dangling"), absl::StatusCode::kNotFound);
  EXPECT_EQ(CodeOf("nothing"), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace mpsd

#include "worker/load/load_in_sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/platform.h"
#include "proto/files/file_stamp.h"
#include "proto/link/messages.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

// Without a sandbox, which would bind the test as well.
class LoadInSandboxTest : public testing::Test {
 protected:
  LoadInSandboxTest() {
    Write("one");
    order_.model = "m";
    order_.format = ModelFormat::kSynthetic;
    order_.sandbox = SandboxLevel::kOff;
    order_.spec.inputs = {{"INPUT0", DataType::kFp32, {1}}};
    order_.path = path_;
    order_.stamp = StampOf(path_);
  }
  ~LoadInSandboxTest() override { unlink(path_.c_str()); }

  // Gives the path another file.
  void Write(const std::string& content) {
    const std::string fresh = path_ + ".new";
    std::ofstream(fresh) << content;
    ASSERT_EQ(std::rename(fresh.c_str(), path_.c_str()), 0);
  }

  const std::string path_ = absl::StrCat(testing::TempDir(), "/load_in_sandbox_test.", getpid());
  LoadOrder order_;
};

TEST_F(LoadInSandboxTest, LoadsTheFileThatTheOrderWasMadeFor) {
  EXPECT_TRUE(LoadInSandbox(order_).ok());
}

TEST_F(LoadInSandboxTest, RefusesAFileThatTookItsPlace) {
  Write("two");
  const absl::Status status = LoadInSandbox(order_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("it was replaced since"));
  order_.stamp = StampOf(path_);
  EXPECT_TRUE(LoadInSandbox(order_).ok());
}

TEST_F(LoadInSandboxTest, LoadsTheFileThatWasHandedOverThoughAnotherTookItsPlace) {
  std::vector<UniqueFd> files;
  files.push_back(OpenAsStamped(path_, order_.stamp));
  Write("two");
  if (platform::PathOfOpenFile(files[0].get()).empty()) GTEST_SKIP() << "no path of an open file";
  EXPECT_TRUE(LoadInSandbox(order_, std::move(files)).ok());
}

TEST_F(LoadInSandboxTest, RefusesAHandedFileThatWasWrittenAnew) {
  std::vector<UniqueFd> files;
  files.push_back(OpenAsStamped(path_, order_.stamp));
  std::ofstream(path_) << "other content";
  const absl::Status status = LoadInSandbox(order_, std::move(files)).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("it was replaced since"));
}

TEST_F(LoadInSandboxTest, KnowsWhichErrorsTheNextProcessWouldHaveToo) {
  order_.parameters = {{"delay", "soon"}};
  EXPECT_TRUE(IsLasting(LoadInSandbox(order_).status()));
  order_.parameters = {{"fail_at_load", "true"}};
  EXPECT_FALSE(IsLasting(LoadInSandbox(order_).status()));
  EXPECT_TRUE(IsLasting(absl::FailedPreconditionError("device 'cuda:7': there are 0 devices")));
  EXPECT_TRUE(IsLasting(absl::UnimplementedError("built without libtorch")));
  EXPECT_FALSE(IsLasting(absl::ResourceExhaustedError("out of memory")));
  EXPECT_FALSE(IsLasting(absl::PermissionDeniedError("its file cannot be read")));
  EXPECT_FALSE(IsLasting(absl::DataLossError("the device is lost")));
}

TEST_F(LoadInSandboxTest, AnOrderWithoutAStampTakesAnyFile) {
  order_.stamp = {};
  EXPECT_TRUE(LoadInSandbox(order_).ok());
}

}  // namespace
}  // namespace mpsd

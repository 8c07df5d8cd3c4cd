#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "server/supervise/process/local_worker_host.h"

namespace mpsd {
namespace {

class WorkerBinariesTest : public testing::Test {
 protected:
  WorkerBinariesTest() { std::filesystem::create_directories(folder_); }
  ~WorkerBinariesTest() override { std::filesystem::remove_all(folder_); }

  void Put(const std::string& path, mode_t mode) {
    std::ofstream(path) << "#!/bin/sh\n";
    chmod(path.c_str(), mode);
  }

  const std::string folder_ = testing::TempDir() + "/worker_binaries_test";
  const std::string worker_ = folder_ + "/mpsd-worker";
  const std::string synthetic_ = folder_ + "/mpsd-worker-synthetic";
};

TEST_F(WorkerBinariesTest, ASyntheticModelHasAProgramOfItsOwn) {
  Put(synthetic_, 0755);
  const WorkerBinaries binaries(worker_);
  EXPECT_EQ(binaries.For(ModelFormat::kSynthetic), synthetic_);
  EXPECT_EQ(binaries.For(ModelFormat::kTorchScript), worker_);
  EXPECT_EQ(binaries.For(ModelFormat::kAoti), worker_);
}

TEST_F(WorkerBinariesTest, OneProgramRunsAllWhereThereIsNoOther) {
  EXPECT_EQ(WorkerBinaries(worker_).For(ModelFormat::kSynthetic), worker_);
}

TEST_F(WorkerBinariesTest, AProgramThatNobodyMayRunIsNone) {
  Put(synthetic_, 0644);
  EXPECT_EQ(WorkerBinaries(worker_).For(ModelFormat::kSynthetic), worker_);
}

}  // namespace
}  // namespace mpsd

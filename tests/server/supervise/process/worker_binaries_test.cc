#include <sys/stat.h>

#include <fstream>

#include "gtest/gtest.h"
#include "server/supervise/process/local_worker_host.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

class WorkerBinariesTest : public testing::Test {
 protected:
  void Put(const std::string& path, mode_t mode) {
    std::ofstream(path) << "#!/bin/sh\n";
    chmod(path.c_str(), mode);
  }

  const WorkFolder folder_;
  const std::string worker_ = folder_.PathOf("mpsd-worker");
  const std::string synthetic_ = folder_.PathOf("mpsd-worker-synthetic");
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

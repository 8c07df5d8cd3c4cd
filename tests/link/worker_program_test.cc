#include "proto/link/worker_program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "proto/base/platform.h"

namespace mpsd {
namespace {

class WorkerProgramTest : public testing::Test {
 protected:
  WorkerProgramTest() { unsetenv("MPSD_WORKER"); }
  ~WorkerProgramTest() override { unsetenv("MPSD_WORKER"); }

  const std::string beside_ =
      (std::filesystem::path(*platform::ExecutablePath()).parent_path() / "mpsd-worker").string();
};

TEST_F(WorkerProgramTest, LiesBesideTheRunningProgram) { EXPECT_EQ(*WorkerProgram(), beside_); }

TEST_F(WorkerProgramTest, IsTheOneThatTheEnvironmentNames) {
  setenv("MPSD_WORKER", "/opt/torch-2.9/mpsd-worker", 1);
  EXPECT_EQ(*WorkerProgram(), "/opt/torch-2.9/mpsd-worker");
}

TEST_F(WorkerProgramTest, IsTheOneThatAnOptionGives) {
  setenv("MPSD_WORKER", "/opt/torch-2.9/mpsd-worker", 1);
  EXPECT_EQ(*WorkerProgram("/given/mpsd-worker"), "/given/mpsd-worker");
}

TEST_F(WorkerProgramTest, AnEmptyNameCountsAsNone) {
  setenv("MPSD_WORKER", "", 1);
  EXPECT_EQ(*WorkerProgram(), beside_);
}

}  // namespace
}  // namespace mpsd

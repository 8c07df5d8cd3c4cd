#include "server/operate/doctor/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DevicesLine, HasTheDevicesAndTheRuntime) {
  ExaminedWorker worker;
  EXPECT_TRUE(ReadDevicesLine(R"({"devices": ["mps", "cpu"], "passed_over": "cuda: none", )"
                              R"("runtime": "torch 2.11.0", "runtime_kind": "stock"})",
                              &worker)
                  .ok());
  EXPECT_THAT(worker.devices, ElementsAre("mps", "cpu"));
  EXPECT_EQ(worker.passed_over, "cuda: none");
  EXPECT_EQ(worker.runtime, "torch 2.11.0");
  EXPECT_EQ(worker.runtime_kind, "stock");
}

TEST(DevicesLine, WhatIsNoAnswerIsShown) {
  for (const char* line :
       {"", "terminate called", "[]", "{}", R"({"devices": "cpu"})", R"({"devices": [3]})"}) {
    ExaminedWorker worker;
    const absl::Status status = ReadDevicesLine(line, &worker);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << line;
    EXPECT_THAT(std::string(status.message()), HasSubstr(line));
    EXPECT_TRUE(worker.devices.empty());
  }
}

TEST(SandboxLine, OnlyTheStrictLevelIsOk) {
  EXPECT_TRUE(ReadSandboxLine(R"({"sandbox": "strict"})").ok());
  EXPECT_EQ(ReadSandboxLine(R"({"error": "no landlock"})"),
            absl::FailedPreconditionError("no landlock"));
  for (const char* line : {"", "{}", R"({"sandbox": "basic"})", R"({"error": 3})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadSandboxLine(line))) << line;
  }
}

// With a worker of a few lines of shell, and a folder of its own.
class ExamineTest : public testing::Test {
 protected:
  ExamineTest() {
    std::filesystem::create_directory(folder_);
    WorkerThat(R"(case $1 in --devices) echo '{"devices": ["cpu"]}';;
      --sandbox) echo '{"error": "no landlock"}';; esac)");
    config_.state_dir = folder_ + "/state";
    config_.listen.http.clear();
  }
  ~ExamineTest() override { std::filesystem::remove_all(folder_); }

  void WorkerThat(const std::string& script) {
    std::ofstream(worker_) << "#!/bin/sh\n" << script << "\n";
    chmod(worker_.c_str(), 0700);
  }

  const std::string folder_ = absl::StrCat(testing::TempDir(), "/examine_test.", getpid());
  const std::string worker_ = folder_ + "/worker";
  Config config_;
};

TEST_F(ExamineTest, AsksTheWorkerForDevicesAndSandbox) {
  const Examination seen = Examine(config_, worker_);
  EXPECT_TRUE(seen.worker.answered.ok()) << seen.worker.answered;
  EXPECT_THAT(seen.worker.devices, ElementsAre("cpu"));
  EXPECT_EQ(seen.worker.sandboxed, absl::FailedPreconditionError("no landlock"));
}

TEST_F(ExamineTest, AWorkerThatFailsIsNoAnswer) {
  WorkerThat("echo no libtorch; exit 127");
  const Examination seen = Examine(config_, worker_);
  EXPECT_THAT(std::string(seen.worker.answered.message()),
              HasSubstr("--devices: exit 127: no libtorch"));
  EXPECT_FALSE(seen.worker.sandboxed.ok());
}

TEST_F(ExamineTest, AWorkerThatIsNotThereIsNoAnswer) {
  const Examination seen = Examine(config_, folder_ + "/missing");
  EXPECT_FALSE(seen.worker.answered.ok());
}

TEST_F(ExamineTest, ThisHostHasWhatTestsNeed) {
  const Examination seen = Examine(config_, worker_);
  EXPECT_NE(seen.system, "");
  EXPECT_GE(seen.cores, 1u);
  EXPECT_GT(seen.descriptors, 0u);
  EXPECT_TRUE(seen.shared_memory.ok()) << seen.shared_memory;
  EXPECT_TRUE(seen.sockets.ok()) << seen.sockets;
}

TEST_F(ExamineTest, AStateFolderThatCanBeMadeIsNotMade) {
  const Examination seen = Examine(config_, worker_);
  EXPECT_TRUE(seen.state_dir_usable.ok()) << seen.state_dir_usable;
  EXPECT_FALSE(std::filesystem::exists(config_.state_dir));
}

TEST_F(ExamineTest, AStateFolderIsRefusedAsTheDaemonWouldRefuseIt) {
  std::filesystem::create_directory(config_.state_dir);
  chmod(config_.state_dir.c_str(), 0770);
  EXPECT_TRUE(absl::IsFailedPrecondition(Examine(config_, worker_).state_dir_usable));
  config_.state_dir = worker_ + "/state";  // below a file
  EXPECT_FALSE(Examine(config_, worker_).state_dir_usable.ok());
}

TEST_F(ExamineTest, SocketsOfAStateFolderToComeAreNotTried) {
  config_.listen.grpc = {absl::StrCat("unix:", config_.state_dir, "/mpsd.sock"),
                         absl::StrCat("unix:", worker_)};
  const Examination seen = Examine(config_, worker_);
  ASSERT_EQ(seen.addresses.size(), 1u);
  EXPECT_EQ(seen.addresses[0].address, absl::StrCat("unix:", worker_));
  EXPECT_FALSE(seen.addresses[0].free.ok());  // there is a file that is no socket
}

TEST_F(ExamineTest, KeepsTheEnvironmentOfTheRuntimesAlone) {
  setenv("PYTORCH_EXAMINE_TEST", "1", 1);
  setenv("SECRET_EXAMINE_TEST", "1", 1);
  const Examination seen = Examine(config_, worker_);
  EXPECT_THAT(seen.environment, testing::Contains("PYTORCH_EXAMINE_TEST=1"));
  EXPECT_THAT(seen.environment, Not(testing::Contains(HasSubstr("SECRET_EXAMINE_TEST"))));
}

}  // namespace
}  // namespace mpsd

#include "server/supervise/process/cuda_service.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "proto/base/fd.h"
#include "proto/base/platform.h"
#include "server/telemetry/log/log_file.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

// The service is a script here, which writes how it was called and does what the test says.
class CudaServiceTest : public testing::Test {
 protected:
  CudaServiceTest()
      : log_(*LogFile::Open(base_ + ".log"), LogLevel::kInfo, Clock::Real(), &metrics_) {
    options_.program = base_ + ".sh";
    options_.folder = base_ + ".folder";
    options_.start_timeout_ns = 20 * kNsPerSecond;
  }
  void TearDown() override {
    for (const char* end : {".sh", ".folder", ".log", ".calls"}) {
      std::filesystem::remove_all(base_ + end);
    }
  }

  void ServiceThat(const std::string& does) {
    std::ofstream(options_.program)
        << "#!/bin/sh\necho \"$@ $CUDA_MPS_PIPE_DIRECTORY $CUDA_MPS_LOG_DIRECTORY\" >>" << base_
        << ".calls\n"
        << does << "\n";
    chmod(options_.program.c_str(), 0700);
  }
  std::string Calls() const { return Contents(base_ + ".calls"); }
  static std::string Contents(const std::string& path) {
    std::ifstream file(path);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  static bool Within20s(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  }
  std::string Error() {
    const auto service = CudaService::Start(options_, &log_);
    return service.ok() ? "it started" : std::string(service.status().message());
  }

  const std::string base_ = testing::TempDir() + "mpsd_cuda_service_" + std::to_string(getpid());
  const std::string listen_ = "touch $CUDA_MPS_PIPE_DIRECTORY/control; exec sleep 600";
  ServerMetrics metrics_;
  Logger log_;
  CudaServiceOptions options_;
};

TEST_F(CudaServiceTest, RunsInTheForegroundInAFolderOfItsOwnAndEndsWithUs) {
  ServiceThat(listen_);
  std::filesystem::create_directories(options_.folder + "/pipe");
  std::ofstream(options_.folder + "/pipe/left_behind") << "by another";
  pid_t pid = -1;
  {
    const auto service = CudaService::Start(options_, &log_);
    ASSERT_TRUE(service.ok()) << service.status();
    pid = (*service)->pid();
    EXPECT_EQ(kill(pid, 0), 0);
    EXPECT_EQ(Calls(), "-f " + options_.folder + "/pipe " + options_.folder + "/log\n");
    EXPECT_FALSE(std::filesystem::exists(options_.folder + "/pipe/left_behind"));
    struct stat info {};
    ASSERT_EQ(stat(options_.folder.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(CudaServiceTest, WhatItHasStartedEndsWithIt) {
  ServiceThat("sleep 600 & echo $! >$CUDA_MPS_LOG_DIRECTORY/server; " + listen_);
  pid_t server = -1;
  {
    const auto service = CudaService::Start(options_, &log_);
    ASSERT_TRUE(service.ok()) << service.status();
    server = std::atoi(Contents(options_.folder + "/log/server").c_str());
    ASSERT_GT(server, 0);
  }
  const std::string state = "/proc/" + std::to_string(server) + "/cmdline";
  EXPECT_TRUE(Within20s([&] { return Contents(state).empty(); }));
}

TEST_F(CudaServiceTest, OneThatIgnoresSigtermIsKilled) {
  ServiceThat("trap '' TERM; touch $CUDA_MPS_PIPE_DIRECTORY/control; while :; do sleep 0.1; done");
  pid_t pid = -1;
  {
    const auto service = CudaService::Start(options_, &log_);
    ASSERT_TRUE(service.ok()) << service.status();
    pid = (*service)->pid();
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(CudaServiceTest, OneThatDiesIsStartedAgainAndTold) {
  ServiceThat(listen_);
  const auto service = CudaService::Start(options_, &log_);
  ASSERT_TRUE(service.ok()) << service.status();
  const pid_t first = (*service)->pid();
  kill(first, SIGKILL);
  EXPECT_TRUE(Within20s([&] { return (*service)->pid() > 0 && (*service)->pid() != first; }));
  EXPECT_TRUE(Within20s([&] { return Calls().find("-f", 1) != std::string::npos; }));
  EXPECT_TRUE(Within20s(
      [&] { return Contents(base_ + ".log").find("cuda_mps_ended") != std::string::npos; }));
}

TEST_F(CudaServiceTest, EndsWhatADaemonThatWasKilledHasLeft) {
  ServiceThat(listen_);
  std::filesystem::create_directories(options_.folder);
  const auto left = [&](const std::string& folder) {
    platform::SpawnOptions spawn;
    spawn.path = "/bin/sleep";
    spawn.arguments = {"600"};
    spawn.environment = {"CUDA_MPS_PIPE_DIRECTORY=" + folder + "/pipe"};
    spawn.control_fd = UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC));
    spawn.output_fd = UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC));
    const auto pid = platform::Spawn(std::move(spawn));
    EXPECT_TRUE(pid.ok()) << pid.status();
    std::ofstream(options_.folder + "/pid") << *pid << "\n";
    // A spawned process has its environment a moment after it is there.
    const std::string environment = "/proc/" + std::to_string(*pid) + "/environ";
    EXPECT_TRUE(Within20s([&] { return !Contents(environment).empty(); }));
    return *pid;
  };
  const pid_t ours = left(options_.folder);
  EXPECT_TRUE(CudaService::Start(options_, &log_).ok());
  int wait_status = 0;
  ASSERT_EQ(waitpid(ours, &wait_status, 0), ours);
  EXPECT_TRUE(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL);

  const pid_t others = left("/another/folder");
  EXPECT_TRUE(CudaService::Start(options_, &log_).ok());
  EXPECT_EQ(waitpid(others, &wait_status, WNOHANG), 0) << "it is none of ours";
  kill(others, SIGKILL);
  waitpid(others, &wait_status, 0);
}

TEST_F(CudaServiceTest, SaysWhyItCannotStart) {
  EXPECT_THAT(Error(), HasSubstr("cuda_mps is 'on', but there is no " + options_.program));
  EXPECT_THAT(Error(), HasSubstr("or set cuda_mps to 'off'"));
  options_.program = "no-such-program-of-mpsd";
  EXPECT_THAT(Error(), HasSubstr("there is no no-such-program-of-mpsd"));
  options_.program = base_ + ".sh";
  ServiceThat("exit 3");
  EXPECT_THAT(Error(), HasSubstr("it ended at once"));
  ServiceThat("exec sleep 600");
  options_.start_timeout_ns = 50 * kNsPerMs;
  EXPECT_THAT(Error(), HasSubstr("it does not listen"));
}

TEST(CudaService, TellsWorkersByTheEnvironment) {
  CudaService::SetEnvironment("/run/mpsd/cuda-mps");
  EXPECT_STREQ(std::getenv("CUDA_MPS_PIPE_DIRECTORY"), "/run/mpsd/cuda-mps/pipe");
  EXPECT_STREQ(std::getenv("CUDA_MPS_LOG_DIRECTORY"), "/run/mpsd/cuda-mps/log");
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  unsetenv("CUDA_MPS_LOG_DIRECTORY");
}

}  // namespace
}  // namespace mpsd

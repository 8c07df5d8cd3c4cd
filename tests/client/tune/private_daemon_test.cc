#include "client/tune/private_daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "proto/files/whole_file.h"

namespace mpsd::tune {
namespace {

using testing::HasSubstr;

client::ModelStatus Model(bool ready, std::vector<std::string> states) {
  client::ModelStatus model;
  model.ready = ready;
  model.state = ready ? "ready" : "loading";
  for (const std::string& state : states) model.workers.emplace_back().state = state;
  return model;
}

TEST(PrivateDaemonStatus, IsReadyOnceAllWorkersServe) {
  EXPECT_FALSE(AllServe({}));
  EXPECT_FALSE(AllServe(Model(false, {"loading"})));
  EXPECT_FALSE(AllServe(Model(true, {"serving", "warming up"})));
  EXPECT_TRUE(AllServe(Model(true, {"serving", "serving"})));
}

TEST(PrivateDaemonStatus, AWorkerThatKeepsDyingIsAFault) {
  client::ModelStatus model = Model(false, {"loading"});
  EXPECT_EQ(StartFault(model), "");
  model.workers[0].restarts = 2;
  model.workers[0].last_exit = "exit 1";
  EXPECT_EQ(StartFault(model), "exit 1");
  model.workers[0].last_lines = {"first", "no such operator"};
  EXPECT_EQ(StartFault(model), "no such operator");
  model.state = "unavailable: it throws";
  EXPECT_EQ(StartFault(model), "it throws");
  model = Model(false, {"failed"});
  EXPECT_EQ(StartFault(model), "its worker failed");
}

// A daemon of some lines of shell, which first notes its folder.
class PrivateDaemonTest : public testing::Test {
 protected:
  PrivateDaemonTest() {
    options_.program = base_ + ".sh";
    options_.model = "m";
    options_.config = [](absl::string_view folder) { return "config of " + std::string(folder); };
    options_.stop = [] { return false; };
  }
  void TearDown() override {
    std::remove(options_.program.c_str());
    std::remove(notes_.c_str());
  }

  absl::Status Start(const std::string& script) {
    std::ofstream(options_.program) << "#!/bin/sh\necho $$ ${3%/mpsd.json} > " << notes_ << "\n"
                                    << "ls -ld ${3%/mpsd.json} >> " << notes_ << "\n"
                                    << "cat $3 >> " << notes_ << "\n"
                                    << script << "\n";
    chmod(options_.program.c_str(), 0700);
    const absl::Status status = PrivateDaemon::Start(options_).status();
    std::ifstream(notes_) >> pid_ >> folder_ >> mode_;
    return status;
  }

  void ExpectNothingIsLeft() const {
    ASSERT_GT(pid_, 0);
    EXPECT_EQ(kill(pid_, 0), -1);
    EXPECT_EQ(errno, ESRCH);
    EXPECT_FALSE(std::filesystem::exists(folder_)) << folder_;
  }

  const std::string base_ = testing::TempDir() + "mpsd_tune_" + std::to_string(getpid());
  const std::string notes_ = base_ + ".notes";
  PrivateDaemonOptions options_;
  pid_t pid_ = 0;
  std::string folder_;
  std::string mode_;
};

TEST_F(PrivateDaemonTest, SaysWhatTheDaemonSaidAtItsEnd) {
  const absl::Status status = Start("echo noise; echo 'mpsd: no memory'; exit 78");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "the daemon ended with 78: mpsd: no memory");
  ExpectNothingIsLeft();
}

TEST_F(PrivateDaemonTest, HasAConfigInAFolderThatNobodyElseCanEnter) {
  EXPECT_FALSE(Start("exit 1").ok());
  EXPECT_EQ(mode_.substr(0, 10), "drwx------");
  EXPECT_THAT(ReadWholeFile(notes_, 1000).value_or(""), HasSubstr("config of " + folder_));
}

TEST_F(PrivateDaemonTest, TheReasonOfALineOfTheLogIsEnough) {
  const absl::Status status = Start(R"(echo '{"event": "e", "reason": "too large"}'; exit 1)");
  EXPECT_EQ(status.message(), "the daemon ended with 1: too large");
}

TEST_F(PrivateDaemonTest, EndsADaemonThatIsNeverReady) {
  options_.start_limit = absl::Seconds(1);
  const absl::Status status = Start("exec sleep 60");
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "it is not ready after 1s");
  ExpectNothingIsLeft();
}

TEST_F(PrivateDaemonTest, StopsWhenItIsTold) {
  options_.stop = [this] { return std::filesystem::exists(notes_); };
  const absl::Status status = Start("exec sleep 60");
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

TEST_F(PrivateDaemonTest, SaysThatThereIsNoProgram) {
  options_.program = "/nowhere/mpsd";
  EXPECT_FALSE(PrivateDaemon::Start(options_).ok());
}

}  // namespace
}  // namespace mpsd::tune

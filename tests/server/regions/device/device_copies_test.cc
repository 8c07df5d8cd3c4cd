#include "server/regions/device/device_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "server/request/retry_info.h"
#include "server/telemetry/log/log_file.h"
#include "tests/fakes/fake_device_memory.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

// The real copier over the fake driver, or what a test puts in its place.
class DeviceCopiesTest : public testing::Test {
 protected:
  DeviceCopiesTest()
      : log_(*LogFile::Open(base_ + ".log"), LogLevel::kInfo, Clock::Real(), &metrics_) {
    options_.process.binary = MPSD_DEVICE_COPIER;
    options_.process.environment = {"LD_LIBRARY_PATH=" MPSD_FAKE_CUDA};
  }
  ~DeviceCopiesTest() override {
    copies_.reset();
    for (const char* end : {".sh", ".log"}) std::filesystem::remove(base_ + end);
  }

  void Start() {
    copies_ = std::make_unique<DeviceCopies>(options_, &log_, &metrics_);
    ASSERT_TRUE(copies_->Start().ok());
  }

  // Whatever is orders and outcomes to this script is its control socket, descriptor 3.
  void CopierThat(const std::string& does) {
    std::ofstream(base_ + ".sh") << "#!/bin/sh\n" << does << "\n";
    chmod((base_ + ".sh").c_str(), 0700);
    options_.process.binary = base_ + ".sh";
    options_.process.environment = {"PATH=/usr/bin:/bin"};
  }

  // Runs it as a task, to its end.
  void Run(const std::function<void()>& task) {
    absl::Notification done;
    ASSERT_TRUE(copies_
                    ->Enqueue([&] {
                      task();
                      done.Notify();
                    })
                    .ok());
    done.WaitForNotification();
  }

  uint64_t Open(const FakeDeviceMemory& memory, uint64_t bytes) {
    absl::StatusOr<uint64_t> region;
    Run([&] { region = copies_->Open({memory.handle(), 0, bytes}); });
    EXPECT_TRUE(region.ok()) << region.status();
    return region.value_or(0);
  }
  absl::Status OpenError(const FakeDeviceMemory& memory, uint64_t bytes, int64_t device = 0) {
    absl::StatusOr<uint64_t> region;
    Run([&] { region = copies_->Open({memory.handle(), device, bytes}); });
    return region.status();
  }
  absl::Status Read(uint64_t region, uint64_t offset, std::string* text) {
    absl::Status status;
    Run([&] { status = copies_->Read(region, offset, absl::MakeSpan(&(*text)[0], text->size())); });
    return status;
  }
  absl::Status Write(uint64_t region, uint64_t offset, absl::string_view text) {
    absl::Status status;
    Run([&] {
      status = copies_->Write(region, offset, absl::MakeConstSpan(text.data(), text.size()));
    });
    return status;
  }

  // The copiers that this process has; the last one is said by the log.
  pid_t CopierPid() {
    const std::string log = Log();
    const size_t at = log.rfind("device_copier_started");
    const size_t pid = log.find("\"pid\":", at);
    return at == std::string::npos ? -1 : std::atoi(log.c_str() + pid + 6);
  }
  std::string Log() const {
    std::ifstream file(base_ + ".log");
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  static bool Within20s(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  }

  const std::string base_ = testing::TempDir() + "mpsd_device_copies_" + std::to_string(getpid());
  ServerMetrics metrics_;
  Logger log_;
  DeviceCopiesOptions options_;
  std::unique_ptr<DeviceCopies> copies_;
};

TEST_F(DeviceCopiesTest, BytesGoBothWaysInPieces) {
  Start();
  const uint64_t bytes = 2 * kCopierSegmentBytes + 100;
  FakeDeviceMemory memory("large", bytes);
  const uint64_t region = Open(memory, bytes);
  EXPECT_TRUE(copies_->ready());
  std::string pattern(bytes - 3, '\0');
  for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<char>(i * 7 + (i >> 12));
  ASSERT_TRUE(Write(region, 3, pattern).ok());
  EXPECT_EQ(memory.Get(3, pattern.size()), pattern);
  std::string back(pattern.size(), '\0');
  ASSERT_TRUE(Read(region, 3, &back).ok());
  EXPECT_EQ(back, pattern);
  EXPECT_EQ(metrics_.device_copier_deaths, 0u);
}

TEST_F(DeviceCopiesTest, WhatCannotBeOpenedIsTheClientsFault) {
  Start();
  const FakeDeviceMemory memory("small", 64);
  EXPECT_EQ(OpenError(memory, 65),
            absl::InvalidArgumentError("its allocation is smaller than byte size says"));
  EXPECT_EQ(OpenError(memory, 64, 5), absl::InvalidArgumentError("there is no such device"));
  absl::StatusOr<uint64_t> region;
  Run([&] { region = copies_->Open({std::string(kDeviceHandleBytes, 'x'), 0, 64}); });
  EXPECT_EQ(region.status(), absl::InvalidArgumentError("failed to open CUDA IPC handle"));
}

TEST_F(DeviceCopiesTest, OneThatDiesIsReplacedAndRegionsAreOpenedAgain) {
  Start();
  FakeDeviceMemory memory("memory", 64);
  const uint64_t region = Open(memory, 64);
  ASSERT_TRUE(Within20s([&] { return CopierPid() > 0; }));
  const pid_t first = CopierPid();
  ASSERT_EQ(kill(first, SIGKILL), 0);
  ASSERT_TRUE(Within20s([&] { return CopierPid() != first; }));
  memory.Put(0, "still there");
  std::string text(11, '\0');
  EXPECT_TRUE(Read(region, 0, &text).ok());
  EXPECT_EQ(text, "still there");
  EXPECT_EQ(metrics_.device_copier_deaths, 1u);
}

TEST_F(DeviceCopiesTest, ACopyInWhichItDiesIsUnavailableAndTheNextIsNot) {
  Start();
  FakeDeviceMemory memory("memory", 64);
  const FakeDeviceMemory deadly("a.crash", 64);
  const uint64_t region = Open(memory, 64);
  const uint64_t bad = Open(deadly, 64);
  std::string text(1, '\0');
  EXPECT_TRUE(absl::IsUnavailable(Read(bad, 0, &text)));
  EXPECT_TRUE(Read(region, 0, &text).ok());
  EXPECT_EQ(metrics_.device_copier_deaths, 1u);
}

TEST_F(DeviceCopiesTest, OneThatHangsIsKilled) {
  options_.copy_ns = 2 * kNsPerSecond;
  Start();
  FakeDeviceMemory memory("memory", 64);
  const FakeDeviceMemory hangs("a.hang", 64);
  const uint64_t region = Open(memory, 64);
  const uint64_t bad = Open(hangs, 64);
  std::string text(1, '\0');
  EXPECT_TRUE(absl::IsUnavailable(Read(bad, 0, &text)));
  EXPECT_TRUE(Within20s([&] { return Log().find("it does not answer") != std::string::npos; }));
  EXPECT_TRUE(Read(region, 0, &text).ok());
}

TEST_F(DeviceCopiesTest, ADeviceThatIsLostEndsTheCopier) {
  Start();
  const FakeDeviceMemory loses("a.lost", 64);
  const uint64_t bad = Open(loses, 64);
  EXPECT_TRUE(absl::IsUnavailable(Write(bad, 0, "x")));
  EXPECT_EQ(metrics_.device_copier_deaths, 1u);
}

TEST_F(DeviceCopiesTest, AHoleInTheDriverLeadsToNothingElse) {
  Start();
  const FakeDeviceMemory seizes("a.seize", 64);
  const uint64_t region = Open(seizes, 64);
  std::string text(1, '\0');
  EXPECT_EQ(Read(region, 0, &text), absl::OkStatus());
  ASSERT_TRUE(Within20s([&] { return CopierPid() > 0; }));
  EXPECT_EQ(Log().find("not_confined"), std::string::npos);
}

TEST_F(DeviceCopiesTest, WithoutASandboxTheDriverMayDoAll) {
  options_.sandbox = SandboxLevel::kOff;
  Start();
  const FakeDeviceMemory seizes("a.seize", 64);
  const uint64_t region = Open(seizes, 64);
  std::string text(1, '\0');
  EXPECT_THAT(std::string(Read(region, 0, &text).message()), HasSubstr("error 20"));
}

// The control socket gets an outcome that says nothing of rights that were given up.
TEST_F(DeviceCopiesTest, OneThatCannotConfineItselfIsOfUseUnlessStrict) {
  const char* const unconfined =
      "head -c 112 <&3 >/dev/null; printf '\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0"
      "\\1\\0\\0\\0\\0\\0\\0\\0' >&3; head -c 1 <&3";
  CopierThat(unconfined);
  Start();
  EXPECT_TRUE(Within20s([&] { return copies_->ready(); }));
  EXPECT_TRUE(
      Within20s([&] { return Log().find("device_copier_not_confined") != std::string::npos; }));

  options_.sandbox = SandboxLevel::kStrict;
  Start();
  const FakeDeviceMemory memory("memory", 64);
  EXPECT_TRUE(absl::IsUnimplemented(OpenError(memory, 64)));
  EXPECT_FALSE(copies_->ready());
  EXPECT_NE(Log().find("device_copier_not_confined"), std::string::npos);
}

TEST_F(DeviceCopiesTest, ACopyThatTheDriverRefusesEndsNothing) {
  Start();
  const FakeDeviceMemory fails("a.fail", 64);
  const uint64_t bad = Open(fails, 64);
  const absl::Status status = Write(bad, 0, "x");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("error 1 of the driver"));
  EXPECT_EQ(metrics_.device_copier_deaths, 0u);
}

TEST_F(DeviceCopiesTest, AStopCutsOffACopyThatHangs) {
  Start();
  const FakeDeviceMemory hangs("a.hang", 64);
  const uint64_t bad = Open(hangs, 64);
  absl::Notification begun;
  absl::Notification ended;
  absl::Status status;
  absl::Status behind;
  ASSERT_TRUE(copies_
                  ->Enqueue([&] {
                    begun.Notify();
                    char byte = 0;
                    status = copies_->Read(bad, 0, absl::MakeSpan(&byte, 1));
                  })
                  .ok());
  ASSERT_TRUE(copies_
                  ->Enqueue([&] {
                    char byte = 0;
                    behind = copies_->Read(bad, 0, absl::MakeSpan(&byte, 1));
                    ended.Notify();
                  })
                  .ok());
  begun.WaitForNotification();
  copies_->Stop();
  ASSERT_TRUE(ended.WaitForNotificationWithTimeout(absl::Seconds(4)));  // a copy has five
  EXPECT_EQ(copies_->Enqueue([] {}), absl::UnavailableError("Server exiting"));
  copies_.reset();  // joins the thread, which the thread sanitizer sees; absl's locks it does not
  EXPECT_EQ(status, absl::UnavailableError("Server exiting"));
  EXPECT_EQ(behind, absl::UnavailableError("Server exiting"));
}

TEST_F(DeviceCopiesTest, WhatWaitsIsBounded) {
  options_.tasks = 2;
  Start();
  absl::Notification begun;
  absl::Notification go_on;
  ASSERT_TRUE(copies_
                  ->Enqueue([&] {
                    begun.Notify();
                    go_on.WaitForNotification();
                  })
                  .ok());
  begun.WaitForNotification();
  EXPECT_TRUE(copies_->Enqueue([] {}).ok());
  EXPECT_TRUE(copies_->Enqueue([] {}).ok());
  EXPECT_EQ(copies_->pending(), 3u);
  EXPECT_EQ(copies_->Enqueue([] {}), Busy("too many requests wait for CUDA shared memory"));
  go_on.Notify();
  EXPECT_TRUE(Within20s([&] { return copies_->pending() == 0; }));
}

TEST_F(DeviceCopiesTest, AHostWithoutDeviceIsAskedOnce) {
  options_.process.environment.push_back("FAKE_CUDA_DEVICES=0");
  Start();
  const FakeDeviceMemory memory("memory", 64);
  const absl::Status status = OpenError(memory, 64);
  EXPECT_EQ(status, absl::UnimplementedError("CUDA shared memory regions are not supported by this "
                                             "server: there is no CUDA device on its host"));
  EXPECT_FALSE(copies_->ready());
  EXPECT_EQ(OpenError(memory, 64), status);
  EXPECT_EQ(metrics_.device_copier_deaths, 0u);
}

TEST_F(DeviceCopiesTest, OneThatCannotStartIsTriedAgainAndMeanwhileUnavailable) {
  CopierThat("exit 1");
  Start();
  const FakeDeviceMemory memory("memory", 64);
  ASSERT_TRUE(Within20s([&] { return metrics_.device_copier_deaths >= 3; }));
  EXPECT_TRUE(absl::IsUnavailable(OpenError(memory, 64)));
}

TEST_F(DeviceCopiesTest, OneThatLiesIsKilled) {
  // An outcome of the order number 0, which there never is, and then nothing.
  CopierThat("head -c 24 /dev/zero >&3; exec sleep 60");
  Start();
  ASSERT_TRUE(
      Within20s([&] { return Log().find("it answers what was not asked") != std::string::npos; }));
  const FakeDeviceMemory memory("memory", 64);
  EXPECT_TRUE(absl::IsUnavailable(OpenError(memory, 64)));
}

TEST_F(DeviceCopiesTest, OneThatHangsUpIsKilled) {
  CopierThat("exec 3>&-; exec sleep 60");
  Start();
  EXPECT_TRUE(Within20s([&] { return metrics_.device_copier_deaths >= 2; }));
}

}  // namespace
}  // namespace mpsd

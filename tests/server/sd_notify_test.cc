#include "server/sd_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/base/fd.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

// The service manager's end: a datagram socket bound to `name`, where '@' stands for abstract.
UniqueFd Bind(const std::string& name) {
  UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const socklen_t bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), bytes), 0);
  return fd;
}

std::string Receive(const UniqueFd& fd) {
  char buffer[512];
  const ssize_t n = recv(fd.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
  return n < 0 ? "nothing" : std::string(buffer, static_cast<size_t>(n));
}

class ServiceNotifierTest : public testing::Test {
 protected:
  const WorkFolder work_;
  const std::string path_ = work_.PathOf("socket");
  const UniqueFd manager_ = Bind(path_);
};

TEST_F(ServiceNotifierTest, SaysReadyWithAStatus) {
  const ServiceNotifier notifier(path_);
  ASSERT_TRUE(notifier.Ready("2 models serve").ok());
  EXPECT_EQ(Receive(manager_), "READY=1\nSTATUS=2 models serve");
}

TEST_F(ServiceNotifierTest, SaysStopping) {
  const ServiceNotifier notifier(path_);
  ASSERT_TRUE(notifier.Stopping("draining").ok());
  EXPECT_EQ(Receive(manager_), "STOPPING=1\nSTATUS=draining");
}

TEST_F(ServiceNotifierTest, SaysReloadingWithTheMonotonicTime) {
  const ServiceNotifier notifier(path_);
  ASSERT_TRUE(notifier.Reloading(FakeClock()).ok());
  EXPECT_EQ(Receive(manager_), "RELOADING=1\nMONOTONIC_USEC=1000000000");
}

TEST_F(ServiceNotifierTest, AStatusIsOneAssignment) {
  const ServiceNotifier notifier(path_);
  ASSERT_TRUE(notifier.Ready("a\nSTOPPING=1\rb").ok());
  EXPECT_EQ(Receive(manager_), "READY=1\nSTATUS=a STOPPING=1 b");
}

TEST_F(ServiceNotifierTest, ReadsTheSocketFromTheEnvironment) {
  ASSERT_EQ(setenv("NOTIFY_SOCKET", path_.c_str(), 1), 0);
  const ServiceNotifier notifier = ServiceNotifier::FromEnvironment();
  unsetenv("NOTIFY_SOCKET");
  ASSERT_TRUE(notifier.Stopping("s").ok());
  EXPECT_EQ(Receive(manager_), "STOPPING=1\nSTATUS=s");
}

TEST_F(ServiceNotifierTest, WithoutASocketEverythingIsFine) {
  unsetenv("NOTIFY_SOCKET");
  const ServiceNotifier notifier = ServiceNotifier::FromEnvironment();
  EXPECT_TRUE(notifier.Ready("s").ok());
  EXPECT_TRUE(notifier.Reloading(FakeClock()).ok());
  EXPECT_TRUE(notifier.Stopping("s").ok());
  EXPECT_EQ(Receive(manager_), "nothing");
}

TEST_F(ServiceNotifierTest, ASocketThatNobodyReadsIsAnError) {
  EXPECT_FALSE(ServiceNotifier(path_ + ".gone").Ready("s").ok());
}

TEST_F(ServiceNotifierTest, WhatIsNoSocketIsRefused) {
  EXPECT_EQ(ServiceNotifier("relative").Ready("s").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ServiceNotifier("/" + std::string(200, 'x')).Ready("s").code(),
            absl::StatusCode::kInvalidArgument);
}

#if defined(__linux__)
TEST(ServiceNotifier, SpeaksToAnAbstractSocket) {
  const std::string name = absl::StrCat("@mpsd-notify-test-", getpid());
  const UniqueFd manager = Bind(name);
  ASSERT_TRUE(ServiceNotifier(name).Ready("s").ok());
  EXPECT_EQ(Receive(manager), "READY=1\nSTATUS=s");
}
#endif

}  // namespace
}  // namespace mpsd

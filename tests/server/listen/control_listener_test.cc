#include "server/listen/control_listener.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {
namespace {

// Keeps the connections that it is handed.
struct Handed {
  absl::Mutex mu;
  std::vector<UniqueFd> fds ABSL_GUARDED_BY(mu);
};

class KeepingAcceptor final : public grpc::experimental::ExternalConnectionAcceptor {
 public:
  explicit KeepingAcceptor(Handed* handed) : handed_(handed) {}
  void HandleNewConnection(NewConnectionParameters* parameters) override {
    absl::MutexLock lock(&handed_->mu);
    handed_->fds.emplace_back(parameters->fd);
  }

 private:
  Handed* const handed_;
};

class ControlListenerTest : public testing::Test {
 protected:
  ControlListenerTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "mpsd_control_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ + "/control.sock";
  }
  ~ControlListenerTest() override { std::filesystem::remove_all(folder_); }

  auto Open() { return ControlListener::Open("unix:" + path_, &logger_); }

  UniqueFd Connect() const {
    UniqueFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fd.Reset();
    return fd;
  }

  std::string folder_;
  std::string path_;
  ServerMetrics metrics_;
  Logger logger_{LogFile::Open("/dev/null").value(), LogLevel::kError, Clock::Real(), &metrics_};
};

TEST_F(ControlListenerTest, TheSocketIsForItsUserAloneAndGoesWithTheListener) {
  auto listener = Open();
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  listener->reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ControlListenerTest, HandsConnectionsOver) {
  Handed handed;
  auto listener = Open();
  ASSERT_TRUE(listener.ok());
  (*listener)->Start(std::make_unique<KeepingAcceptor>(&handed));
  const UniqueFd first = Connect();
  const UniqueFd second = Connect();
  EXPECT_TRUE(first.valid() && second.valid());
  absl::MutexLock lock(&handed.mu);
  const auto both = [&handed]()
                        ABSL_EXCLUSIVE_LOCKS_REQUIRED(handed.mu) { return handed.fds.size() == 2; };
  EXPECT_TRUE(handed.mu.AwaitWithTimeout(absl::Condition(&both), absl::Seconds(30)));
}

TEST_F(ControlListenerTest, WhatAKilledOneLeftIsNoHindranceButALivingOneIs) {
  auto first = Open();
  ASSERT_TRUE(first.ok());
  const absl::Status second = Open().status();
  EXPECT_TRUE(absl::IsUnavailable(second)) << second;
  EXPECT_TRUE(absl::StrContains(second.message(), path_)) << second;
  // The name stays, the socket is closed: as after kill -9.
  std::filesystem::rename(path_, path_ + ".kept");
  first->reset();
  std::filesystem::rename(path_ + ".kept", path_);
  EXPECT_TRUE(Open().ok());
}

TEST_F(ControlListenerTest, AFileThatIsNoSocketIsLeftAlone) {
  std::filesystem::create_directory(path_);
  EXPECT_TRUE(absl::IsUnavailable(Open().status()));
  EXPECT_TRUE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace mpsd

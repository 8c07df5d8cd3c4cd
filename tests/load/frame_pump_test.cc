#include "load_tests/generator/frame_pump.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/traffic/load_run.h"
#include "load_tests/ceilings/echo_server.h"
#include "load_tests/generator/make_frame_pump.h"
#include "proto/base/clock.h"
#include "proto/base/fd.h"

namespace mpsd::load {
namespace {

using traffic::Expectation;
using traffic::LoadResult;

// Takes connections, as the system does for it, and never says a word.
class MuteServer {
 public:
  MuteServer() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd_.get(), generic, size), 0);
    EXPECT_EQ(listen(fd_.get(), 8), 0);
    EXPECT_EQ(getsockname(fd_.get(), generic, &size), 0);
    target_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  }

  const std::string& target() const { return target_; }

  // Its connections are lost.
  void End() { fd_ = UniqueFd(); }

 private:
  UniqueFd fd_;
  std::string target_;
};

// Calls of the echo, which gRPC serves.
class FramePumpTest : public testing::Test {
 protected:
  void SetUp() override {
    Listen("127.0.0.1:0");
    Prepare("x:FP32[1,8]");
    plan_.expectation = Expectation::kEcho;
    plan_.arrivals.rate = 2000;
    plan_.duration_ns = 200 * kNsPerMs;
    plan_.drain_ns = 10 * kNsPerSecond;
  }

  void Listen(const std::string& address) {
    auto echo = EchoServer::Start({.address = address});
    ASSERT_TRUE(echo.ok()) << echo.status();
    echo_ = *std::move(echo);
    plan_.target = echo_->address();
  }

  void Prepare(const std::string& input) {
    auto requests =
        traffic::PrepareRequests({.model = "m", .inputs = {*traffic::ParseInputPlan(input)}});
    ASSERT_TRUE(requests.ok()) << requests.status();
    requests_ = *std::move(requests);
  }

  // A method that the echo never answers.
  void CallInVain() { plan_.method = "/inference.GRPCInferenceService/ServerLive"; }

  LoadResult Run() {
    const auto result = traffic::RunLoadWith(
        plan_, [&](uint32_t thread) { return MakeFramePump(plan_, requests_, thread); });
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : LoadResult();
  }

  // All that were due, and sent, were answered, and right.
  void ExpectAllRight(const LoadResult& result) {
    EXPECT_GT(result.counts.latency.count(), 0u);
    EXPECT_EQ(result.counts.intended, result.counts.latency.count() + result.counts.not_sent);
    EXPECT_EQ(result.counts.lateness.count(), result.counts.latency.count());
    EXPECT_EQ(result.counts.wrong, 0u);
    EXPECT_TRUE(result.counts.errors.empty());
  }

  std::unique_ptr<EchoServer> echo_;
  std::vector<traffic::PreparedRequest> requests_;
  traffic::LoadPlan plan_;
};

TEST_F(FramePumpTest, EachCallIsAnsweredAndChecked) { ExpectAllRight(Run()); }

TEST_F(FramePumpTest, OverAUnixSocket) {
  Listen(absl::StrCat("unix:", testing::TempDir(), "/frames-", getpid(), ".sock"));
  ExpectAllRight(Run());
}

TEST_F(FramePumpTest, ThreadsAndConnectionsShareTheCalls) {
  plan_.threads = 2;
  plan_.channels = 5;
  plan_.arrivals.burst = 20;
  ExpectAllRight(Run());
}

// Each takes many frames, and more than the windows have room for at once.
TEST_F(FramePumpTest, LargeMessagesComeWhole) {
  Prepare("x:FP32[1,500000]");
  plan_.arrivals.rate = 50;
  ExpectAllRight(Run());
}

TEST_F(FramePumpTest, WrongAnswersAreCountedAndNotTimed) {
  plan_.expectation = Expectation::kIdentity;
  const LoadResult result = Run();
  EXPECT_GT(result.counts.wrong, 0u);
  EXPECT_EQ(result.counts.latency.count(), 0u);
}

TEST_F(FramePumpTest, ErrorsAreCountedByCode) {
  plan_.method = "/inference.GRPCInferenceService/NoSuchMethod";
  const LoadResult result = Run();
  EXPECT_EQ(result.counts.errors.at(grpc::StatusCode::UNIMPLEMENTED),
            result.counts.lateness.count());
  EXPECT_EQ(result.counts.latency.count(), 0u);
}

// Calls that have a stream, and calls that wait for one.
TEST_F(FramePumpTest, CallsEndAtTheirDeadlineWhateverTheServerDoes) {
  MuteServer mute;
  plan_.target = mute.target();
  plan_.arrivals.burst = 200;
  plan_.deadline_ns = 20 * kNsPerMs;
  const LoadResult result = Run();
  EXPECT_GT(result.counts.lateness.count(), 0u);
  EXPECT_EQ(result.counts.errors.size(), 1u);
  EXPECT_EQ(result.counts.errors.at(grpc::StatusCode::DEADLINE_EXCEEDED),
            result.counts.lateness.count());
}

TEST_F(FramePumpTest, CallsThatAreNeverAnsweredAreCancelledAfterTheDrainTime) {
  CallInVain();
  plan_.drain_ns = 20 * kNsPerMs;
  const LoadResult result = Run();
  EXPECT_EQ(result.counts.errors.at(grpc::StatusCode::CANCELLED), result.counts.lateness.count());
}

TEST_F(FramePumpTest, WhatIsDueWhileAllCallsAreOpenIsNotSent) {
  CallInVain();
  plan_.outstanding_max = 3;
  plan_.drain_ns = 0;
  const LoadResult result = Run();
  EXPECT_EQ(result.counts.lateness.count(), 3u);
  EXPECT_GT(result.counts.not_sent, 0u);
  EXPECT_EQ(result.counts.not_sent, result.counts.intended - 3);
}

TEST_F(FramePumpTest, CallsOfALostConnectionAreUnavailable) {
  MuteServer mute;
  plan_.target = mute.target();
  plan_.arrivals.burst = 200;
  plan_.duration_ns = 500 * kNsPerMs;
  std::thread ender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    mute.End();
  });
  const LoadResult result = Run();
  ender.join();
  EXPECT_GT(result.counts.lateness.count(), 0u);
  EXPECT_EQ(result.counts.errors.size(), 1u);
  EXPECT_EQ(result.counts.errors.at(grpc::StatusCode::UNAVAILABLE), result.counts.lateness.count());
}

TEST_F(FramePumpTest, EndsOnTimeThoughItCannotKeepUp) {
  plan_.arrivals.rate = 50e6;
  plan_.duration_ns = 20 * kNsPerMs;
  const LoadResult result = Run();
  EXPECT_GT(result.counts.not_sent, 0u);
  EXPECT_EQ(result.counts.intended, result.counts.latency.count() + result.counts.not_sent);
}

TEST_F(FramePumpTest, SaysThatNobodyListens) {
  plan_.target = absl::StrCat("unix:", testing::TempDir(), "/nobody-", getpid(), ".sock");
  const auto pump = MakeFramePump(plan_, requests_, 0);
  EXPECT_EQ(pump.status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(FramePumpTest, SaysThatATargetIsNone) {
  plan_.target = "127.0.0.1:none";
  const auto pump = MakeFramePump(plan_, requests_, 0);
  EXPECT_EQ(pump.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mpsd::load

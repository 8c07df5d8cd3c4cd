#include "client/traffic/load_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "load_tests/ceilings/echo_server.h"
#include "proto/base/clock.h"

namespace mpsd::traffic {
namespace {

class LoadRun : public testing::Test {
 protected:
  void SetUp() override {
    auto echo = load::EchoServer::Start({.address = absl::StrCat("unix:", SocketPath())});
    ASSERT_TRUE(echo.ok()) << echo.status();
    echo_ = *std::move(echo);
    auto requests = PrepareRequests({.model = "m", .inputs = {*ParseInputPlan("x:FP32[1,8]")}});
    ASSERT_TRUE(requests.ok());
    requests_ = *std::move(requests);
    plan_.target = echo_->address();
    plan_.expectation = Expectation::kEcho;
    plan_.duration_ns = 60 * kNsPerSecond;
    plan_.drain_ns = 10 * kNsPerSecond;
  }

  static std::string SocketPath() {
    return absl::StrCat(testing::TempDir(), "/echo-", getpid(), ".sock");
  }

  std::unique_ptr<load::EchoServer> echo_;
  std::vector<PreparedRequest> requests_;
  LoadPlan plan_;
};

TEST_F(LoadRun, ClosedLoopSendsAsManyAsItWasTold) {
  plan_.request_count = 300;
  plan_.concurrency = 16;
  plan_.threads = 2;
  const auto result = RunLoad(plan_, requests_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(AllRight(*result));
  EXPECT_EQ(result->counts.answered_in_window, 300u);
  EXPECT_EQ(result->counts.latency.count(), 300u);
}

TEST_F(LoadRun, OpenLoopAccountsForEveryIntendedCall) {
  plan_.arrivals.rate = 2000;
  plan_.arrivals.burst = 3;
  plan_.duration_ns = 100 * kNsPerMs;
  const auto result = RunLoad(plan_, requests_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->counts.intended, 0u);
  EXPECT_EQ(result->counts.intended, result->counts.latency.count() + result->counts.not_sent);
  EXPECT_EQ(result->counts.lateness.count(), result->counts.latency.count());
  EXPECT_EQ(result->counts.good, result->counts.latency.count());
}

TEST_F(LoadRun, OpenLoopCountsGoodAnswersOfTheCallsThatWereDue) {
  plan_.arrivals.rate = 2000;
  plan_.slo_ns = 1;  // too short for anybody
  plan_.timeline_ns = 10 * kNsPerMs;
  absl::StatusOr<LoadResult> result = absl::InternalError("no run yet");
  // On a busy host a short time may be over before the first call is sent.
  for (int64_t ms = 50; ms < 60'000; ms *= 2) {
    plan_.duration_ns = ms * kNsPerMs;
    result = RunLoad(plan_, requests_);
    ASSERT_TRUE(result.ok()) << result.status();
    if (result->counts.latency.count() > 0) break;
  }
  EXPECT_GT(result->counts.latency.count(), 0u);
  EXPECT_EQ(result->counts.good, 0u);
  const auto sum = [&](Timeline::Event event) {
    const auto& counts = result->counts.timeline.counts(event);
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  };
  EXPECT_LE(sum(Timeline::kDue), result->counts.intended);  // which may have some beyond counting
  EXPECT_GT(sum(Timeline::kDue), 0u);
  EXPECT_EQ(sum(Timeline::kOther), result->counts.ended_in_window);
  EXPECT_EQ(sum(Timeline::kGood), 0u);
}

TEST_F(LoadRun, ThreadsTogetherReplayATrace) {
  plan_.arrivals.trace = Trace{.calls = {30, 0, 20}, .bin_ns = 20 * kNsPerMs};
  plan_.arrivals.rate = plan_.arrivals.trace->CallsPerSecond();
  plan_.threads = 3;
  plan_.duration_ns = 60 * kNsPerMs;
  const auto result = RunLoad(plan_, requests_);
  ASSERT_TRUE(result.ok()) << result.status();
  // Requests that a busy host leaves unsent at the end are counted by the mean rate.
  EXPECT_NEAR(static_cast<double>(result->counts.intended), 50, 15);
  EXPECT_EQ(result->counts.intended, result->counts.latency.count() + result->counts.not_sent);
}

TEST_F(LoadRun, OpenLoopEndsOnTimeThoughTheClientCannotKeepUp) {
  plan_.arrivals.rate = 50e6;
  plan_.duration_ns = 20 * kNsPerMs;
  const auto result = RunLoad(plan_, requests_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->counts.not_sent, 0u);
  EXPECT_EQ(result->counts.intended, result->counts.latency.count() + result->counts.not_sent);
}

// On a busy host the time may be over before the first call is due.
TEST_F(LoadRun, OpenLoopEndsThoughItsCallsAreBeyondCounting) {
  for (const double rate : {1e12, 1e30}) {
    plan_.arrivals.rate = rate;
    plan_.outstanding_max = 4;
    plan_.duration_ns = 20 * kNsPerMs;
    const auto result = RunLoad(plan_, requests_);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->counts.intended, result->counts.latency.count() + result->counts.not_sent);
  }
}

TEST_F(LoadRun, OpenLoopSaysWhatItCouldNotSend) {
  plan_.arrivals.rate = 10'000;
  plan_.arrivals.burst = 50;
  plan_.outstanding_max = 1;
  plan_.duration_ns = 200 * kNsPerMs;
  const auto result = RunLoad(plan_, requests_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts.intended, result->counts.latency.count() + result->counts.not_sent);
  EXPECT_GT(result->counts.not_sent, 0u);
}

TEST_F(LoadRun, WrongAnswersAreCountedAndNotTimed) {
  plan_.request_count = 10;
  plan_.expectation = Expectation::kIdentity;
  const auto result = RunLoad(plan_, requests_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts.wrong, 10u);
  EXPECT_EQ(result->counts.latency.count(), 0u);
  EXPECT_FALSE(AllRight(*result));
}

TEST_F(LoadRun, FailedCallsAreCountedByCode) {
  plan_.request_count = 10;
  plan_.method = "/inference.GRPCInferenceService/NoSuchMethod";
  const auto result = RunLoad(plan_, requests_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts.errors.at(grpc::StatusCode::UNIMPLEMENTED), 10u);
  EXPECT_EQ(result->counts.ended_in_window, 10u);
  EXPECT_EQ(result->counts.answered_in_window, 0u);
}

TEST_F(LoadRun, CallsThatAreNeverAnsweredAreCancelledAfterTheDrainTime) {
  // The echo arms no other method of the service, so that such a call stays open for ever.
  plan_.method = "/inference.GRPCInferenceService/ServerLive";
  plan_.concurrency = 4;
  plan_.duration_ns = 20 * kNsPerMs;
  plan_.drain_ns = 20 * kNsPerMs;
  const auto result = RunLoad(plan_, requests_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->counts.errors.at(grpc::StatusCode::CANCELLED), 4u);
}

}  // namespace
}  // namespace mpsd::traffic

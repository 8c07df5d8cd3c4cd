#include "server/http/calls/open_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

constexpr uint32_t kLimit = 120;

class OpenCallsTest : public testing::Test {
 protected:
  // Opens a call; false when it is refused.
  bool Open(const std::string& model, const std::string& host = "10.0.0.1") {
    OpenCalls::Place& place = places_.emplace_back();
    const std::string peer = absl::StrCat("ipv4:", host, ":", 1024 + places_.size());
    status_ = calls_.Enter(peer, &place);
    if (status_.ok()) status_ = place.BelongTo(model);
    if (!status_.ok()) places_.pop_back();
    return status_.ok();
  }
  // Opens calls until one is refused, and returns how many were opened.
  uint32_t Fill(const std::string& model, const std::string& host = "10.0.0.1") {
    uint32_t opened = 0;
    while (Open(model, host)) ++opened;
    return opened;
  }

  std::atomic<uint64_t> refused_{0};
  OpenCalls calls_{kLimit, &refused_};
  std::deque<OpenCalls::Place> places_;
  absl::Status status_;
};

TEST_F(OpenCallsTest, OneClientAtOneModelGetsAThird) {
  EXPECT_EQ(Fill("m"), kLimit / 3);
  EXPECT_TRUE(absl::IsResourceExhausted(status_));
  EXPECT_EQ(status_.message(), "too many calls to this model are open");
  EXPECT_TRUE(RetryAfterNs(status_).has_value());
  EXPECT_EQ(refused_, 1u);
}

TEST_F(OpenCallsTest, AModelThatIsFullLeavesRoomForTheOthersOfTheSameClient) {
  Fill("m");
  EXPECT_GE(Fill("other"), kLimit / 6);
}

TEST_F(OpenCallsTest, WhoIsRefusedAtItsArrivalIsNotCounted) {
  const auto arrive = [this] {
    OpenCalls::Place& place = places_.emplace_back();
    const absl::Status status = calls_.Enter("ipv4:10.0.0.1:4711", &place);
    place.BelongToNone();
    return status.ok();
  };
  while (arrive()) {
  }
  EXPECT_FALSE(arrive());
  EXPECT_EQ(calls_.count(), kLimit / 3);
}

TEST_F(OpenCallsTest, FiveModelsThatDoNotAnswerLeaveRoomForASixth) {
  for (int i = 0; i < 5; ++i) Fill(absl::StrCat("slow", i));
  EXPECT_LT(calls_.count(), kLimit);
  EXPECT_GT(Fill("m"), 0u);
}

TEST_F(OpenCallsTest, AClientThatIsFullLeavesRoomForTheOthersOfTheModel) {
  Fill("m");
  EXPECT_GE(Fill("m", "10.0.0.2"), kLimit / 12);
  for (int i = 3; i < 40; ++i) Fill("m", absl::StrCat("10.0.0.", i));
  EXPECT_LE(calls_.count(), kLimit / 2 + 1) << "half of it is for other models";
}

TEST_F(OpenCallsTest, CallsWhoseModelIsNotKnownAreOneModel) {
  OpenCalls::Place places[kLimit];
  uint32_t entered = 0;
  while (calls_.Enter("ipv4:10.0.0.1:1", &places[entered]).ok()) places[entered++].BelongToNone();
  EXPECT_EQ(entered, kLimit / 3);
  EXPECT_TRUE(Open("m", "10.0.0.2"));
}

TEST_F(OpenCallsTest, NamesThatNoModelHasShareOneAccount) {
  uint32_t opened = 0;
  while (Open(absl::StrCat("made-up-", opened))) {
    places_.back().BelongToNone();
    ++opened;
  }
  EXPECT_EQ(opened, kLimit / 3);
}

TEST_F(OpenCallsTest, TheLimitIsNeverExceeded) {
  for (int i = 0; i < 1000; ++i) Fill(absl::StrCat("m", i), absl::StrCat("10.0.1.", i % 200));
  EXPECT_EQ(calls_.count(), kLimit) << "and it can be used up";
}

TEST_F(OpenCallsTest, ACallThatIsOverMakesRoom) {
  const uint32_t opened = Fill("m");
  places_.pop_back();
  EXPECT_TRUE(Open("m"));
  places_.clear();
  EXPECT_EQ(calls_.count(), 0u);
  EXPECT_EQ(Fill("m"), opened);
}

TEST_F(OpenCallsTest, ARefusedCallHasNoPlace) {
  Fill("m");
  const uint32_t before = calls_.count();
  EXPECT_FALSE(Open("m"));
  EXPECT_EQ(calls_.count(), before);
}

TEST(OpenCalls, ThreadsTogetherDoNotExceedTheLimit) {
  std::atomic<uint64_t> refused{0};
  OpenCalls calls(3, &refused);
  std::atomic<uint32_t> inside{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 2000; ++round) {
        OpenCalls::Place place;
        if (!calls.Enter(absl::StrCat("ipv4:10.0.0.", i, ":1"), &place).ok()) continue;
        EXPECT_LE(++inside, 3u);
        round % 3 == 0 ? place.BelongToNone() : place.BelongTo("m").IgnoreError();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls.count(), 0u);
}

TEST(HostOfPeer, IsTheAddressWithoutThePort) {
  EXPECT_EQ(HostOfPeer("ipv4:10.0.0.1:4711"), "ipv4:10.0.0.1");
  EXPECT_EQ(HostOfPeer("ipv6:[::1]:4711"), "ipv6:[::1]");
  EXPECT_EQ(HostOfPeer("unix:"), "unix");
  EXPECT_EQ(HostOfPeer("odd"), "odd");
}

}  // namespace
}  // namespace mpsd

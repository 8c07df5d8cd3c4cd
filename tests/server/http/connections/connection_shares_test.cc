#include "server/http/connections/connection_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace mpsd {
namespace {

constexpr uint64_t kHost = 7;
constexpr uint64_t kOtherHost = 8;
constexpr int kListener = 3;
constexpr int kOtherListener = 4;

// A door of 16 connections; each connection is named by the number of its entry.
class ConnectionSharesTest : public testing::Test {
 protected:
  // Its number; -1 when it is refused.
  int Enter(uint64_t host, int listener = kListener) { return Add({listener, host, ++now_ns_}); }

  int Add(const ConnectionShares::Newcomer& newcomer) {
    auto use = shares_.Enter(newcomer, bounds_);
    if (use == nullptr) return -1;
    const int number = static_cast<int>(uses_.size());
    use->SetEnd([this, number] { ended_.push_back(number); });
    uses_.push_back(std::move(use));
    return number;
  }

  // A handshake of TLS, which comes when those before are long; likewise.
  int Shake(uint64_t host) {
    now_ns_ += ConnectionShares::kLongHandshakeNs;
    return Add({kListener, host, now_ns_, true});
  }

  int EnterBusy(uint64_t host, int listener = kListener) {
    const int number = Enter(host, listener);
    if (number >= 0) uses_[static_cast<size_t>(number)]->BeginCall();
    return number;
  }

  ConnectionShares::Use& use(int number) { return *uses_[static_cast<size_t>(number)]; }

  ServerMetrics metrics_;
  ConnectionShares::Bounds bounds_{16, 16, &metrics_, nullptr};
  ConnectionShares shares_;
  int64_t now_ns_ = 0;
  std::vector<std::shared_ptr<ConnectionShares::Use>> uses_;
  std::vector<int> ended_;
};

TEST_F(ConnectionSharesTest, AHostHasNoMoreThanItLeavesToOthers) {
  for (int i = 0; i < 8; ++i) EXPECT_EQ(EnterBusy(kHost), i);
  EXPECT_EQ(EnterBusy(kHost), -1);
  EXPECT_EQ(metrics_.refused_connections, 1u);
  for (int i = 0; i < 4; ++i) EXPECT_GE(EnterBusy(kOtherHost), 0);
  EXPECT_EQ(EnterBusy(kOtherHost), -1);
  EXPECT_GE(EnterBusy(9), 0) << "one that has none finds room";
  EXPECT_EQ(metrics_.displaced_connections, 0u);
}

TEST_F(ConnectionSharesTest, WhoLeavesMakesRoom) {
  for (int i = 0; i < 8; ++i) EnterBusy(kHost);
  use(3).Leave();
  use(3).Leave();
  EXPECT_EQ(shares_.count(), 7u) << "a connection leaves once";
  EXPECT_GE(EnterBusy(kHost), 0);
  EXPECT_EQ(EnterBusy(kHost), -1);
}

TEST_F(ConnectionSharesTest, TheStalestIdleOneOfTheHostMakesRoom) {
  for (int i = 0; i < 8; ++i) EnterBusy(kHost);
  use(5).EndCall(++now_ns_);
  use(2).EndCall(++now_ns_);
  EXPECT_GE(EnterBusy(kHost), 0);
  EXPECT_EQ(ended_, std::vector<int>{5});
  EXPECT_GE(EnterBusy(kHost), 0);
  EXPECT_EQ(ended_, (std::vector<int>{5, 2}));
  EXPECT_EQ(EnterBusy(kHost), -1) << "all others have a call";
  EXPECT_EQ(metrics_.displaced_connections, 2u);
  EXPECT_EQ(shares_.count(), 8u) << "one that was told to end counts no more";
  use(5).Leave();
  EXPECT_EQ(shares_.count(), 8u);
}

TEST_F(ConnectionSharesTest, OneThatNeverHadACallGoesFirst) {
  for (int i = 0; i < 8; ++i) {
    Enter(kHost);
    use(i).Heard(++now_ns_);
    if (i == 6) continue;  // a handshake that does not end
    use(i).BeginCall();
    use(i).EndCall(++now_ns_);
  }
  EXPECT_GE(Enter(kHost), 0);
  EXPECT_EQ(ended_, std::vector<int>{6});
  EXPECT_GE(Enter(kHost), 0);
  EXPECT_EQ(ended_, (std::vector<int>{6, 8})) << "the newcomer before has had no call either";
}

TEST_F(ConnectionSharesTest, HandshakesOfManyHostsTakeAQuarterAndTheOldestMakesRoom) {
  const int kept = Enter(kHost);
  EXPECT_EQ(ConnectionShares::MostHandshakes(16), 4u);
  for (uint64_t host = 20; host < 29; ++host) EXPECT_GE(Shake(host), 0);
  ASSERT_EQ(ended_, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(shares_.count(), 5u);
  for (const int number : std::vector<int>(ended_)) use(number).Leave();
  EXPECT_GE(Shake(40), 0);
  EXPECT_EQ(ended_.back(), 6);
  EXPECT_FALSE(std::count(ended_.begin(), ended_.end(), kept));
}

TEST_F(ConnectionSharesTest, TheHostWithTheMostHandshakesMakesRoomForOthers) {
  const int oldest = Shake(kOtherHost);
  for (int i = 0; i < 3; ++i) Shake(kHost);
  EXPECT_GE(Shake(9), 0);
  EXPECT_EQ(ended_, std::vector<int>{1}) << "and not " << oldest;
}

TEST_F(ConnectionSharesTest, NoHandshakeEndsForAnotherBeforeItHasHadItsTime) {
  for (uint64_t host = 20; host < 30; ++host) {
    EXPECT_GE(Add({kListener, host, ++now_ns_, true}), 0);
  }
  EXPECT_TRUE(ended_.empty());
  EXPECT_EQ(shares_.count(), 10u);
}

TEST_F(ConnectionSharesTest, AHandshakeThatIsOverCountsNoMore) {
  for (int i = 0; i < 4; ++i) Shake(kHost);
  use(0).EndHandshake();
  use(0).EndHandshake();
  use(1).Leave();
  Shake(kHost);
  Shake(kHost);
  EXPECT_TRUE(ended_.empty());
  Shake(kHost);
  EXPECT_EQ(ended_, std::vector<int>{2});
  use(0).Leave();
  EXPECT_EQ(shares_.count(), 4u);
}

TEST_F(ConnectionSharesTest, AnotherHostTakesFromTheLargestShare) {
  for (int i = 0; i < 8; ++i) Enter(kHost);
  for (int i = 0; i < 4; ++i) Enter(kOtherHost);
  for (uint64_t host = 20; host < 24; ++host) EXPECT_GE(EnterBusy(host), 0);
  EXPECT_EQ(shares_.count(), 16u);
  EXPECT_GE(EnterBusy(30), 0);
  EXPECT_EQ(ended_, std::vector<int>{0});
  EXPECT_GE(Enter(kOtherHost), 0);
  EXPECT_EQ(ended_, (std::vector<int>{0, 1}));
  EXPECT_EQ(shares_.count(), 16u);
}

TEST_F(ConnectionSharesTest, NoneIsEndedForAShareThatIsAsLarge) {
  for (uint64_t host = 0; host < 16; ++host) EXPECT_GE(Enter(host), 0);
  EXPECT_GE(Enter(40), 0) << "a host without any takes one that has one";
  EXPECT_EQ(ended_.size(), 1u);
  EXPECT_GE(Enter(40), 0) << "and then its own";
  EXPECT_EQ(ended_.back(), 16);
}

TEST_F(ConnectionSharesTest, AListenerLeavesRoomAtOthers) {
  bounds_.of_listener = ConnectionShares::OfListener(16, 2);
  EXPECT_EQ(bounds_.of_listener, 15u);
  EXPECT_EQ(ConnectionShares::OfListener(16, 1), 16u);
  for (uint64_t host = 0; host < 20; ++host) EnterBusy(host);
  EXPECT_EQ(shares_.count(), 15u);
  EXPECT_GE(EnterBusy(0, kOtherListener), 0);
  EXPECT_EQ(EnterBusy(0, kOtherListener), -1) << "the door is full";
  EXPECT_TRUE(ended_.empty());
}

TEST_F(ConnectionSharesTest, AFullListenerTakesFromItsOwn) {
  bounds_.of_listener = ConnectionShares::OfListener(16, 2);
  for (int i = 0; i < 8; ++i) Enter(kHost, kOtherListener);
  for (int i = 0; i < 8; ++i) EnterBusy(kHost);
  EXPECT_EQ(ended_.size(), 0u);
  EXPECT_EQ(EnterBusy(kHost), -1);
  EXPECT_GE(EnterBusy(kOtherHost), 0) << "the listener has room, and the door makes some";
  EXPECT_EQ(ended_, std::vector<int>{0});
}

TEST_F(ConnectionSharesTest, OnlySoManyAreOnTheirWayOut) {
  bounds_ = {1000, 1000, &metrics_, nullptr};
  for (int i = 0; i < 500; ++i) ASSERT_GE(Enter(kHost), 0);
  for (uint32_t i = 0; i < ConnectionShares::kMostEnding; ++i) ASSERT_GE(Enter(kHost), 0);
  EXPECT_EQ(Enter(kHost), -1);
  use(ended_.front()).Leave();
  EXPECT_GE(Enter(kHost), 0);
}

TEST_F(ConnectionSharesTest, OneThatWasToldBeforeItKnewHowEndsAtOnce) {
  bounds_ = {2, 2, &metrics_, nullptr};
  const auto first = shares_.Enter({kListener, kHost, 1}, bounds_);
  const auto second = shares_.Enter({kListener, kHost, 2}, bounds_);
  ASSERT_NE(second, nullptr);
  bool ended = false;
  first->SetEnd([&ended] { ended = true; });
  EXPECT_TRUE(ended);
}

TEST_F(ConnectionSharesTest, NothingIsLeftOfThoseThatHaveLeft) {
  for (int round = 0; round < 3; ++round) {
    for (uint64_t host = 0; host < 40; ++host) Enter(host);
    for (const auto& use : uses_) use->Leave();
    EXPECT_EQ(shares_.count(), 0u);
    for (int i = 0; i < 8; ++i) EXPECT_GE(EnterBusy(kHost), 0);
    EXPECT_EQ(EnterBusy(kHost), -1);
    for (const auto& use : uses_) use->Leave();
  }
}

}  // namespace
}  // namespace mpsd

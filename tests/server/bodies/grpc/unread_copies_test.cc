#include "server/bodies/grpc/unread_copies.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace mpsd {
namespace {

constexpr int64_t kCopiesNow = 1'000'000'000;

class UnreadCopiesTest : public testing::Test {
 protected:
  // True when there was room, which is kept.
  bool Take(const std::string& peer, uint64_t bytes, int64_t now_ns = kCopiesNow) {
    std::optional<UnreadCopies::Room> room = copies_.Take(peer, bytes, now_ns);
    if (!room.has_value()) return false;
    rooms_.emplace_back(peer, *std::move(room));
    return true;
  }

  void ReadAllOf(const std::string& peer) {
    std::vector<std::pair<std::string, UnreadCopies::Room>> rest;
    for (auto& [owner, room] : rooms_) {
      if (owner != peer) rest.emplace_back(owner, std::move(room));
    }
    rooms_.swap(rest);
  }

  std::vector<std::string> cut_;
  UnreadCopies copies_{100, [this](const std::string& peer) {
                         cut_.push_back(peer);
                         return true;
                       }};
  std::vector<std::pair<std::string, UnreadCopies::Room>> rooms_;
};

TEST_F(UnreadCopiesTest, OneClientHasHalfAndNobodyMoreThanThereIs) {
  EXPECT_TRUE(Take("a", 30));
  EXPECT_FALSE(Take("a", 21));
  EXPECT_TRUE(Take("a", 20));
  EXPECT_TRUE(Take("b", 40));
  EXPECT_TRUE(Take("c", 10));
  EXPECT_FALSE(Take("d", 1));
  EXPECT_EQ(copies_.taken_bytes(), 100u);
  ReadAllOf("a");
  EXPECT_EQ(copies_.taken_bytes(), 50u);
  EXPECT_TRUE(Take("d", 1));
  EXPECT_TRUE(cut_.empty()) << "nobody was stale";
}

TEST_F(UnreadCopiesTest, OneAnswerMayBeLargerThanAShare) {
  EXPECT_TRUE(Take("a", 100));
  EXPECT_FALSE(Take("a", 1));
  ReadAllOf("a");
  EXPECT_FALSE(Take("a", 101));
}

TEST_F(UnreadCopiesTest, TheStalestIsCutOffOnceWhenThereIsNoRoom) {
  EXPECT_TRUE(Take("b", 50, kCopiesNow));
  EXPECT_TRUE(Take("a", 50, kCopiesNow + 1));
  const int64_t stale_ns = kCopiesNow + UnreadCopies::kPatienceNs;
  EXPECT_FALSE(Take("c", 1, stale_ns - 1));
  EXPECT_TRUE(cut_.empty());
  EXPECT_FALSE(Take("c", 1, stale_ns));
  EXPECT_EQ(cut_, std::vector<std::string>{"b"});
  EXPECT_FALSE(Take("c", 1, stale_ns)) << "its copies are still there";
  EXPECT_EQ(cut_, std::vector<std::string>{"b"});
  ReadAllOf("b");
  EXPECT_TRUE(Take("c", 1, stale_ns));
}

TEST_F(UnreadCopiesTest, ReadingNowAndThenDoesNotHideAnOldCopy) {
  EXPECT_TRUE(Take("b", 50, kCopiesNow + 1));
  EXPECT_TRUE(Take("a", 40, kCopiesNow));
  EXPECT_TRUE(Take("a", 5, kCopiesNow + 2));
  rooms_.pop_back();
  EXPECT_TRUE(Take("a", 10, kCopiesNow + 3));
  EXPECT_FALSE(Take("c", 1, kCopiesNow + UnreadCopies::kPatienceNs + 3));
  EXPECT_EQ(cut_, std::vector<std::string>{"a"});
}

TEST_F(UnreadCopiesTest, WithRoomLeftNobodyIsCutOff) {
  EXPECT_TRUE(Take("a", 50));
  EXPECT_FALSE(Take("a", 1, kCopiesNow + 2 * UnreadCopies::kPatienceNs)) << "beyond its share";
  EXPECT_TRUE(Take("b", 1, kCopiesNow + 2 * UnreadCopies::kPatienceNs));
  EXPECT_TRUE(cut_.empty());
}

TEST_F(UnreadCopiesTest, ThreadsLoseNothing) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      const std::string peer = std::to_string(i % 2);
      for (int round = 0; round < 5'000; ++round) copies_.Take(peer, 40, kCopiesNow + round);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(copies_.taken_bytes(), 0u);
}

}  // namespace
}  // namespace mpsd

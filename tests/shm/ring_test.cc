#include "proto/shm/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace mpsd {
namespace {

// A ring whose indices stand at the parameter when the test begins.
class Ring : public testing::TestWithParam<uint32_t> {
 protected:
  SharedWord entries_[kRingEntries] = {};
  SharedWord tail_{GetParam()};
  SharedWord head_{GetParam()};
  RingProducer producer_{entries_, &tail_, &head_, GetParam()};
  RingConsumer consumer_{entries_, &tail_, &head_, GetParam()};
};

INSTANTIATE_TEST_SUITE_P(From, Ring,
                         testing::Values(0u, 1u, 0x7fff'fffeU, UINT32_MAX - 4, UINT32_MAX - 1,
                                         UINT32_MAX));

TEST_P(Ring, HasNothingAtFirst) {
  EXPECT_FALSE(consumer_.Pending());
  EXPECT_FALSE(consumer_.Corrupt());
}

TEST_P(Ring, GivesEntriesInTheirOrder) {
  for (const uint32_t entry : {7u, 0u, UINT32_MAX}) ASSERT_TRUE(producer_.Push(entry));
  for (const uint32_t entry : {7u, 0u, UINT32_MAX}) {
    ASSERT_TRUE(consumer_.Pending());
    EXPECT_EQ(consumer_.Peek(), entry);
    consumer_.Pop();
  }
  EXPECT_FALSE(consumer_.Pending());
}

TEST_P(Ring, KeepsAnEntryUntilItIsPopped) {
  ASSERT_TRUE(producer_.Push(5));
  EXPECT_EQ(consumer_.Peek(), 5u);
  EXPECT_EQ(consumer_.Peek(), 5u);
  EXPECT_EQ(head_.load(), GetParam());
  consumer_.Pop();
  EXPECT_EQ(head_.load(), GetParam() + 1);
}

TEST_P(Ring, HoldsItsCapacityAndNoMore) {
  for (uint32_t i = 0; i < kRingEntries; ++i) ASSERT_TRUE(producer_.Push(i));
  EXPECT_FALSE(consumer_.Corrupt());
  EXPECT_FALSE(producer_.Push(99));
  EXPECT_EQ(consumer_.Peek(), 0u) << "a push that was refused wrote over an entry";
  EXPECT_EQ(tail_.load(), GetParam() + kRingEntries);
  consumer_.Pop();
  EXPECT_TRUE(producer_.Push(kRingEntries));
  for (uint32_t i = 1; i <= kRingEntries; ++i) {
    EXPECT_EQ(consumer_.Peek(), i);
    consumer_.Pop();
  }
  EXPECT_FALSE(consumer_.Pending());
}

TEST_P(Ring, KeepsItsOrderInAnyOrderOfCalls) {
  std::mt19937 random(11);
  std::deque<uint32_t> inside;
  for (uint32_t step = 0; step < 2000; ++step) {
    if (random() % 2 == 0) {
      ASSERT_EQ(producer_.Push(step), inside.size() < kRingEntries);
      if (inside.size() < kRingEntries) inside.push_back(step);
    } else if (!inside.empty()) {
      ASSERT_EQ(consumer_.Peek(), inside.front());
      consumer_.Pop();
      inside.pop_front();
    }
    ASSERT_EQ(consumer_.Pending(), !inside.empty());
    ASSERT_FALSE(consumer_.Corrupt());
  }
}

// ---- a peer that lies ----

TEST_P(Ring, RefusesToPushBeforeAHeadThatPassedTheTail) {
  head_.store(GetParam() + 1);
  EXPECT_FALSE(producer_.Push(1));
  head_.store(GetParam() + 0x8000'0000U);
  EXPECT_FALSE(producer_.Push(1));
  EXPECT_EQ(tail_.load(), GetParam());
}

TEST_P(Ring, RefusesToPushBeforeAHeadThatFellBack) {
  head_.store(GetParam() - kRingEntries);
  EXPECT_FALSE(producer_.Push(1));
  EXPECT_EQ(tail_.load(), GetParam());
}

TEST_P(Ring, FindsATailThatIsTooFarAhead) {
  tail_.store(GetParam() + kRingEntries);
  EXPECT_FALSE(consumer_.Corrupt());
  tail_.store(GetParam() + kRingEntries + 1);
  EXPECT_TRUE(consumer_.Pending());
  EXPECT_TRUE(consumer_.Corrupt());
}

TEST_P(Ring, FindsATailThatFellBack) {
  tail_.store(GetParam() - 1);
  EXPECT_TRUE(consumer_.Pending());
  EXPECT_TRUE(consumer_.Corrupt());
}

TEST_P(Ring, GoesByItsOwnIndicesWhateverThePeerWrites) {
  ASSERT_TRUE(producer_.Push(1));
  tail_.store(GetParam() + 3);  // a consumer that scribbled on the tail
  ASSERT_TRUE(producer_.Push(2));
  EXPECT_EQ(tail_.load(), GetParam() + 2);
  head_.store(GetParam() + 9);  // a producer that scribbled on the head
  consumer_.Pop();
  EXPECT_EQ(head_.load(), GetParam() + 1);
  EXPECT_EQ(consumer_.Peek(), 2u);
}

}  // namespace
}  // namespace mpsd

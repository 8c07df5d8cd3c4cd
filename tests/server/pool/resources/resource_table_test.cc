#include "server/pool/resources/resource_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace mpsd {
namespace {

LaneNeeds Needs(std::vector<ResourceNeed> needs, uint32_t priority = 1) {
  return {std::move(needs), priority};
}

class ResourceTableTest : public testing::Test {
 protected:
  // Gives the rest back, so that the table may end.
  void TearDown() override {
    for (const auto& [claim, batches] : held_) {
      for (int i = 0; i < batches; ++i) table_.GiveBack(claim, 0);
      table_.Leave(claim);
    }
  }

  ResourceClaim* Enter(const LaneNeeds& limit, const std::string& device = "cpu") {
    ResourceClaim* claim = table_.Enter(limit, device, 1);
    held_[claim] = 0;
    return claim;
  }

  bool Take(ResourceClaim* claim) {
    const bool taken = table_.TryTake(claim);
    held_[claim] += taken ? 1 : 0;
    return taken;
  }

  void GiveBack(ResourceClaim* claim) {
    table_.GiveBack(claim, 0);
    --held_[claim];
  }

  void Leave(ResourceClaim* claim) {
    table_.Leave(claim);
    held_.erase(claim);
  }

  ResourceSample Sample(const std::string& name, const std::string& device = "cpu") {
    for (const ResourceSample& sample : table_.Samples()) {
      if (sample.name == name && sample.device == device) return sample;
    }
    return {};
  }

  ResourceTable table_{{{"R4", 4}}};
  std::map<ResourceClaim*, int> held_;
};

TEST_F(ResourceTableTest, OfOneThatNobodyLimitsThereIsWhatTheLargestNeeds) {
  ResourceClaim* small = Enter(Needs({{"R", 1}}));
  EXPECT_EQ(Sample("R").limit, 1u);
  ResourceClaim* large = Enter(Needs({{"R", 3}}));
  EXPECT_EQ(Sample("R").limit, 3u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Take(small));
  EXPECT_FALSE(Take(small));
  EXPECT_FALSE(Take(large));
  EXPECT_EQ(Sample("R").held, 3u);
  EXPECT_EQ(Sample("R").waiting, 2u);
}

TEST_F(ResourceTableTest, OfOneThatIsLimitedThereIsSoMuch) {
  ResourceClaim* claim = Enter(Needs({{"R4", 1}}));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Take(claim));
  EXPECT_FALSE(Take(claim));
}

TEST_F(ResourceTableTest, ALimitBelowANeedKeepsNobodyFromRunning) {
  ResourceClaim* claim = Enter(Needs({{"R4", 9}}));
  EXPECT_TRUE(Take(claim));
  EXPECT_FALSE(Take(claim));
}

TEST_F(ResourceTableTest, LimitsMayChangeWhileResourcesAreHeld) {
  ResourceClaim* claim = Enter(Needs({{"R4", 1}}));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Take(claim));
  table_.SetLimits({{"R4", 2}}, {});
  EXPECT_EQ(Sample("R4").held, 4u);
  GiveBack(claim);
  GiveBack(claim);
  EXPECT_FALSE(Take(claim));
  GiveBack(claim);
  EXPECT_TRUE(Take(claim));
  table_.SetLimits({{"R4", 5}}, {});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Take(claim));
}

TEST_F(ResourceTableTest, EachDeviceHasItsOwnAndAGlobalOneIsSharedByAll) {
  ResourceClaim* first = Enter(Needs({{"OWN", 1}}), "cuda:0");
  ResourceClaim* second = Enter(Needs({{"OWN", 1}}), "cuda:1");
  EXPECT_TRUE(Take(first));
  EXPECT_TRUE(Take(second));
  ResourceClaim* third = Enter(Needs({{"ALL", 1, true}}), "cuda:0");
  ResourceClaim* fourth = Enter(Needs({{"ALL", 1, true}}), "cuda:1");
  EXPECT_TRUE(Take(third));
  EXPECT_FALSE(Take(fourth));
  EXPECT_EQ(Sample("ALL", "").held, 1u);
}

TEST_F(ResourceTableTest, AClaimTakesAllOrNothing) {
  ResourceClaim* one = Enter(Needs({{"A", 1}}));
  ResourceClaim* both = Enter(Needs({{"B", 1}, {"A", 1}}));
  EXPECT_TRUE(Take(one));
  EXPECT_FALSE(Take(both));
  EXPECT_EQ(Sample("B").held, 0u);
  GiveBack(one);
  EXPECT_TRUE(Take(both));
  EXPECT_EQ(Sample("B").held, 1u);
}

TEST_F(ResourceTableTest, WhoNeedsMuchIsNotStarvedByThoseThatNeedLittle) {
  ResourceClaim* first = Enter(Needs({{"R4", 1}}));
  ResourceClaim* second = Enter(Needs({{"R4", 1}}));
  ResourceClaim* large = Enter(Needs({{"R4", 4}}));
  EXPECT_TRUE(Take(first));
  EXPECT_TRUE(Take(second));
  EXPECT_FALSE(Take(large));
  EXPECT_FALSE(Take(first)) << "it has had its turn, and the large one waits";
  GiveBack(first);
  GiveBack(second);
  EXPECT_FALSE(Take(second));
  EXPECT_TRUE(Take(large));
}

TEST_F(ResourceTableTest, WhoSharesNothingWithThoseThatWaitIsNotKept) {
  ResourceClaim* holder = Enter(Needs({{"A", 1}}));
  ResourceClaim* waiter = Enter(Needs({{"A", 1}}));
  ResourceClaim* other = Enter(Needs({{"B", 1}}));
  EXPECT_TRUE(Take(holder));
  EXPECT_FALSE(Take(waiter));
  EXPECT_TRUE(Take(other));
}

TEST_F(ResourceTableTest, WhoStopsWaitingKeepsNobodyFromItsTurn) {
  ResourceClaim* first = Enter(Needs({{"R4", 1}}));
  ResourceClaim* large = Enter(Needs({{"R4", 4}}));
  EXPECT_TRUE(Take(first));
  EXPECT_FALSE(Take(large));
  EXPECT_TRUE(table_.has_waiting());
  EXPECT_FALSE(Take(first));
  table_.StopWaiting(large);
  EXPECT_TRUE(Take(first));
  EXPECT_FALSE(table_.has_waiting());
}

TEST_F(ResourceTableTest, WhoLeavesKeepsNobodyFromItsTurn) {
  ResourceClaim* first = Enter(Needs({{"R4", 1}}));
  ResourceClaim* large = Enter(Needs({{"R4", 4}}));
  EXPECT_TRUE(Take(first));
  EXPECT_FALSE(Take(large));
  Leave(large);
  EXPECT_FALSE(table_.has_waiting());
  EXPECT_TRUE(Take(first));
}

// How often each had its turn, of `turns`. Both always want the one resource that there is.
std::pair<int, int> Turns(uint32_t priority, uint32_t other_priority, int turns) {
  ResourceTable table;
  ResourceClaim* claims[] = {table.Enter(Needs({{"R", 1}}, priority), "cpu", 1),
                             table.Enter(Needs({{"R", 1}}, other_priority), "cpu", 1)};
  int counts[2] = {};
  for (int i = 0; i < turns; ++i) {
    const int which = table.TryTake(claims[0]) ? 0 : 1;
    EXPECT_EQ(table.TryTake(claims[1]), which == 1);
    ++counts[which];
    table.GiveBack(claims[which], 0);
  }
  for (ResourceClaim* claim : claims) table.Leave(claim);
  return {counts[0], counts[1]};
}

TEST(ResourceTurns, EqualPrioritiesTakeTurns) {
  const auto [first, second] = Turns(1, 1, 1000);
  EXPECT_NEAR(first, second, 2);
}

TEST(ResourceTurns, OneOfTwiceTheNumberHasHalfAsManyTurns) {
  const auto [first, second] = Turns(1, 2, 3000);
  EXPECT_NEAR(first, 2000, 10);
  EXPECT_NEAR(second, 1000, 10);
}

TEST(ResourceTurns, TheLeastUrgentHasTurnsToo) {
  const auto [first, second] = Turns(1, 100, 10'000);
  EXPECT_NEAR(second, 100, 3);
  EXPECT_EQ(first + second, 10'000);
}

// Whatever they need, and whenever they ask: nobody holds too much, nobody waits for ever.
TEST(ResourceTurns, NobodyStarvesAndNothingLocksUp) {
  std::mt19937 random(7);
  const auto up_to = [&random](uint32_t most) {
    return 1 + static_cast<uint32_t>(random()) % most;
  };
  for (int round = 0; round < 30; ++round) {
    ResourceTable table({{"A", 3}, {"B", 2}, {"C", 1}});
    std::vector<ResourceClaim*> claims;
    for (uint32_t i = 0; i < 6; ++i) {
      LaneNeeds limit = Needs({{"A", up_to(3)}}, up_to(3));
      if (up_to(2) == 1) limit.resources.push_back({"B", up_to(2)});
      if (up_to(3) == 1) limit.resources.push_back({"C", 1});
      claims.push_back(table.Enter(limit, "cpu", 1));
    }
    std::vector<int> runs(claims.size());
    std::vector<size_t> running;
    for (int step = 0; step < 3000; ++step) {
      const size_t asks = random() % claims.size();
      if (table.TryTake(claims[asks])) {
        running.push_back(asks);
        ++runs[asks];
      }
      for (const ResourceSample& sample : table.Samples()) EXPECT_LE(sample.held, sample.limit);
      if (!running.empty() && random() % 2 == 0) {
        const size_t ends = random() % running.size();
        table.GiveBack(claims[running[ends]], 0);
        running.erase(running.begin() + static_cast<ptrdiff_t>(ends));
      }
    }
    for (const int count : runs) EXPECT_GT(count, 5) << "in round " << round;
    for (const size_t ends : running) table.GiveBack(claims[ends], 0);
    for (ResourceClaim* claim : claims) table.Leave(claim);
  }
}

TEST(ResourceThreads, PoolsAskAtTheSameTime) {
  ResourceTable table({{"R", 2}});
  std::atomic<int> running{0};
  std::atomic<bool> too_many{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      ResourceClaim* claim = table.Enter(Needs({{"R", 1, true}}), "cpu", 1);
      for (int runs = 0; runs < 500;) {
        if (!table.TryTake(claim)) {
          std::this_thread::yield();
          continue;
        }
        if (running.fetch_add(1) >= 2) too_many = true;
        ++runs;
        running.fetch_sub(1);
        table.GiveBack(claim, 0);
      }
      table.Leave(claim);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(too_many);
  EXPECT_FALSE(table.has_waiting());
}

TEST_F(ResourceTableTest, ANewClaimHasNoDebtOfTheOneBefore) {
  ResourceClaim* const first = Enter(Needs({{"R", 1}}, 1000));
  ASSERT_TRUE(Take(first));
  GiveBack(first);
  Leave(first);
  ResourceClaim* const fresh = Enter(Needs({{"R", 1}}));
  ResourceClaim* const other = Enter(Needs({{"R", 1}}));
  ASSERT_TRUE(Take(other));
  EXPECT_FALSE(Take(fresh));
  EXPECT_FALSE(table_.TryTake(other)) << "all is held";
  GiveBack(other);
  EXPECT_TRUE(Take(fresh)) << "the other one has had a turn, and this one none";
}

TEST_F(ResourceTableTest, WhatIsPutBackWasNoTurn) {
  ResourceClaim* const one = Enter(Needs({{"R", 1}}, /*priority=*/5));
  ResourceClaim* const other = Enter(Needs({{"R", 1}}));
  ASSERT_TRUE(table_.TryTake(one));
  EXPECT_FALSE(table_.PutBack(one)) << "nobody has begun to wait meanwhile";
  ASSERT_TRUE(Take(other));
  EXPECT_FALSE(Take(one));
  GiveBack(other);
  EXPECT_FALSE(Take(other)) << "it has had one turn more";
  ASSERT_TRUE(table_.TryTake(one));
  EXPECT_FALSE(Take(other));
  EXPECT_FALSE(table_.PutBack(one)) << "it has waited since before";
  EXPECT_EQ(Sample("R").held, 0u);
}

TEST_F(ResourceTableTest, WhoBeganToWaitMeanwhileIsTold) {
  ResourceClaim* const one = Enter(Needs({{"R", 1}}));
  ResourceClaim* const other = Enter(Needs({{"R", 1}}));
  ASSERT_TRUE(table_.TryTake(one));
  EXPECT_FALSE(Take(other));
  EXPECT_TRUE(table_.PutBack(one));
  EXPECT_TRUE(Take(other));
}

}  // namespace
}  // namespace mpsd

#include "server/request/byte_allowance.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace mpsd {
namespace {

TEST(ByteAllowanceTest, AllOfItMayBeTakenAndNoByteMore) {
  ByteAllowance allowance(1000);
  EXPECT_TRUE(allowance.TryTake(600));
  EXPECT_FALSE(allowance.TryTake(401));
  EXPECT_EQ(allowance.taken_bytes(), 600u) << "what was refused is not taken";
  EXPECT_TRUE(allowance.TryTake(400));
  EXPECT_TRUE(allowance.TryTake(0));
  EXPECT_FALSE(allowance.TryTake(1));
}

TEST(ByteAllowanceTest, WhatIsGivenBackMayBeTakenAgain) {
  ByteAllowance allowance(1000);
  ASSERT_TRUE(allowance.TryTake(1000));
  allowance.GiveBack(600);
  EXPECT_EQ(allowance.taken_bytes(), 400u);
  EXPECT_FALSE(allowance.TryTake(601));
  EXPECT_TRUE(allowance.TryTake(600));
}

TEST(ByteAllowanceTest, NoNumberIsTooLargeToRefuse) {
  ByteAllowance allowance(1000);
  ASSERT_TRUE(allowance.TryTake(1));
  EXPECT_FALSE(allowance.TryTake(std::numeric_limits<uint64_t>::max()));
  EXPECT_EQ(allowance.taken_bytes(), 1u);
}

TEST(ByteAllowanceTest, ThreadsNeverTakeMoreAndLoseNothing) {
  ByteAllowance allowance(100);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&allowance] {
      for (int round = 0; round < 10'000; ++round) {
        if (!allowance.TryTake(40)) continue;
        EXPECT_LE(allowance.taken_bytes(), 100u);
        allowance.GiveBack(40);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowance.taken_bytes(), 0u);
}

}  // namespace
}  // namespace mpsd

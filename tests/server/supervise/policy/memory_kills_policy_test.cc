#include "server/supervise/policy/memory_kills_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kStart = 1000 * kNsPerSecond;

TEST(MemoryKills, WhatWasKilledBeforeTheFirstLookExplainsNothing) {
  MemoryKills kills;
  kills.Look(7, kStart);
  EXPECT_FALSE(kills.Explains(7, kStart));
}

TEST(MemoryKills, OneExplainsOneDeath) {
  MemoryKills kills;
  kills.Look(7, kStart);
  EXPECT_TRUE(kills.Explains(8, kStart + 1));
  EXPECT_FALSE(kills.Explains(8, kStart + 2)) << "somebody else's";
  EXPECT_FALSE(kills.Explains(8, kStart + 3600 * kNsPerSecond));
  EXPECT_TRUE(kills.Explains(9, kStart + 3600 * kNsPerSecond));
}

TEST(MemoryKills, WorkersThatAreKilledTogetherAreAllExplained) {
  MemoryKills kills;
  kills.Look(0, kStart);
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_TRUE(kills.Explains(3, kStart + worker)) << worker;
  }
  EXPECT_FALSE(kills.Explains(3, kStart + 3));
}

TEST(MemoryKills, OneThatHitNoWorkerIsForgotten) {
  MemoryKills kills;
  kills.Look(0, kStart);
  kills.Look(1, kStart + kNsPerSecond);
  EXPECT_FALSE(kills.Explains(1, kStart + 10 * kNsPerSecond));
}

TEST(MemoryKills, AWorkerThatStartsBeforeAnothersDeathIsSeenTakesNothingFromIt) {
  MemoryKills kills;
  kills.Look(0, kStart);
  kills.Look(1, kStart + 1);
  EXPECT_TRUE(kills.Explains(1, kStart + 2));
}

}  // namespace
}  // namespace mpsd

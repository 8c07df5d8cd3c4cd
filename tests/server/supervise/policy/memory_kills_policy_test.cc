#include "server/supervise/policy/memory_kills_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kKillsStart = 1000 * kNsPerSecond;

TEST(MemoryKills, WhatWasKilledBeforeTheFirstLookExplainsNothing) {
  MemoryKills kills;
  kills.Look(7, kKillsStart);
  EXPECT_FALSE(kills.Explains(7, kKillsStart));
}

TEST(MemoryKills, OneExplainsOneDeath) {
  MemoryKills kills;
  kills.Look(7, kKillsStart);
  EXPECT_TRUE(kills.Explains(8, kKillsStart + 1));
  EXPECT_FALSE(kills.Explains(8, kKillsStart + 2)) << "somebody else's";
  EXPECT_FALSE(kills.Explains(8, kKillsStart + 3600 * kNsPerSecond));
  EXPECT_TRUE(kills.Explains(9, kKillsStart + 3600 * kNsPerSecond));
}

TEST(MemoryKills, WorkersThatAreKilledTogetherAreAllExplained) {
  MemoryKills kills;
  kills.Look(0, kKillsStart);
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_TRUE(kills.Explains(3, kKillsStart + worker)) << worker;
  }
  EXPECT_FALSE(kills.Explains(3, kKillsStart + 3));
}

TEST(MemoryKills, OneThatHitNoWorkerIsForgotten) {
  MemoryKills kills;
  kills.Look(0, kKillsStart);
  kills.Look(1, kKillsStart + kNsPerSecond);
  EXPECT_FALSE(kills.Explains(1, kKillsStart + 10 * kNsPerSecond));
}

TEST(MemoryKills, AWorkerThatStartsBeforeAnothersDeathIsSeenTakesNothingFromIt) {
  MemoryKills kills;
  kills.Look(0, kKillsStart);
  kills.Look(1, kKillsStart + 1);
  EXPECT_TRUE(kills.Explains(1, kKillsStart + 2));
}

}  // namespace
}  // namespace mpsd

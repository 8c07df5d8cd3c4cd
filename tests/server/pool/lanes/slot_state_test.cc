#include "server/pool/lanes/slot_state.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace mpsd {
namespace {

using enum SlotState;

TEST(SlotState, TheseAreAllTransitions) {
  const std::set<std::pair<SlotState, SlotState>> legal = {
      {kFree, kLeased},   {kLeased, kRunning},      {kRunning, kAbandoned}, {kRunning, kCompleted},
      {kRunning, kDead},  {kAbandoned, kCompleted}, {kAbandoned, kDead},    {kCompleted, kReplying},
      {kDead, kReplying}, {kReplying, kFree}};
  for (uint32_t from = 0; from < kSlotStates; ++from) {
    for (uint32_t to = 0; to < kSlotStates; ++to) {
      const auto pair = std::make_pair(static_cast<SlotState>(from), static_cast<SlotState>(to));
      EXPECT_EQ(MayGo(pair.first, pair.second), legal.count(pair) == 1) << from << " to " << to;
    }
  }
}

TEST(SlotState, EveryStateIsReachedAndLeadsBackToFree) {
  std::set<SlotState> reached = {kFree};
  for (uint32_t round = 0; round < kSlotStates; ++round) {
    for (const SlotState from : std::set<SlotState>(reached)) {
      for (uint32_t to = 0; to < kSlotStates; ++to) {
        if (MayGo(from, static_cast<SlotState>(to))) reached.insert(static_cast<SlotState>(to));
      }
    }
  }
  EXPECT_EQ(reached.size(), kSlotStates);
}

TEST(Slot, IsWithItsLaneUntilTheCompletionOrTheDeath) {
  SlotLife slot;
  EXPECT_FALSE(slot.with_lane());
  slot.Go(kLeased);
  slot.Go(kRunning);
  EXPECT_TRUE(slot.with_lane());
  slot.Go(kAbandoned);
  EXPECT_TRUE(slot.with_lane());
  slot.Go(kDead);
  EXPECT_FALSE(slot.with_lane());
}

TEST(SlotDeath, AnAbandonedSlotIsNotSimplyFree) {
  SlotLife slot;
  slot.Go(kLeased);
  slot.Go(kRunning);
  slot.Go(kAbandoned);
  EXPECT_DEATH(slot.Go(kFree), "check failed");
  EXPECT_DEATH(slot.Go(kReplying), "check failed");
}

TEST(BatchId, NamesItsEpochAndIsNeverUsedTwice) {
  EXPECT_TRUE(IsOfEpoch(BatchIdOf(1, 7), 7));
  EXPECT_FALSE(IsOfEpoch(BatchIdOf(1, 7), 8));
  EXPECT_NE(BatchIdOf(1, 7), BatchIdOf(2, 7));
  EXPECT_NE(BatchIdOf(1, 0x1'0007), BatchIdOf(2, 7));
  EXPECT_EQ(BatchIdOf(5, 3) >> kEpochBits, 5u);
}

}  // namespace
}  // namespace mpsd

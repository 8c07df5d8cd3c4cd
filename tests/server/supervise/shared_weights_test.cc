#include "server/supervise/shared_weights.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace mpsd {
namespace {

using Step = SharedWeights::Step;

UniqueFd SomeMemory() { return UniqueFd(open("/dev/null", O_RDONLY)); }

TEST(SharedWeights, TheFirstSharesAndTheOthersWaitAndUse) {
  SharedWeights weights;
  EXPECT_EQ(weights.Next(0, 64), Step::kShare);
  EXPECT_EQ(weights.Next(1, 64), Step::kWait);
  EXPECT_EQ(weights.memory(), -1);
  UniqueFd memory = SomeMemory();
  const int descriptor = memory.get();
  weights.TakeAnswer(0, 64, std::move(memory));
  EXPECT_EQ(weights.Next(1, 64), Step::kUse);
  EXPECT_EQ(weights.memory(), descriptor);
  weights.TakeAnswer(1, 64, UniqueFd());
  EXPECT_EQ(weights.Next(2, 64), Step::kUse);
}

TEST(SharedWeights, WhoHasNoneOrOthersKeepsItsOwn) {
  SharedWeights weights;
  EXPECT_EQ(weights.Next(0, 0), Step::kOwn);
  EXPECT_EQ(weights.Next(0, 64), Step::kShare);
  weights.TakeAnswer(0, 64, SomeMemory());
  EXPECT_EQ(weights.Next(1, 0), Step::kOwn);
  EXPECT_EQ(weights.Next(1, 128), Step::kOwn);
}

TEST(SharedWeights, OneThatDiesLeavesItsTurnToAnother) {
  SharedWeights weights;
  EXPECT_EQ(weights.Next(0, 64), Step::kShare);
  weights.Forget(1);
  EXPECT_EQ(weights.Next(1, 64), Step::kWait);
  weights.Forget(0);
  EXPECT_EQ(weights.Next(1, 64), Step::kShare);
}

TEST(SharedWeights, WhatIsUsedOutlivesTheOneThatSharedIt) {
  SharedWeights weights;
  EXPECT_EQ(weights.Next(0, 64), Step::kShare);
  weights.TakeAnswer(0, 64, SomeMemory());
  weights.Forget(0);
  EXPECT_EQ(weights.Next(0, 64), Step::kUse);
}

TEST(SharedWeights, OneThatCannotShareLeavesItsTurnToAnother) {
  SharedWeights weights;
  EXPECT_EQ(weights.Next(0, 64), Step::kShare);
  weights.TakeAnswer(0, 0, UniqueFd());
  EXPECT_EQ(weights.Next(1, 64), Step::kShare);
  weights.TakeAnswer(1, 64, UniqueFd());  // says that it shares, and gives nothing
  EXPECT_EQ(weights.memory(), -1);
  EXPECT_EQ(weights.Next(2, 64), Step::kShare);
  weights.TakeAnswer(2, 32, SomeMemory());  // other bytes than it had
  EXPECT_EQ(weights.memory(), -1);
}

TEST(SharedWeights, WhatOneCannotUseIsSharedAnew) {
  SharedWeights weights;
  EXPECT_EQ(weights.Next(0, 64), Step::kShare);
  weights.TakeAnswer(0, 64, SomeMemory());
  EXPECT_EQ(weights.Next(1, 64), Step::kUse);
  weights.TakeAnswer(1, 0, UniqueFd());
  EXPECT_EQ(weights.memory(), -1);
  EXPECT_EQ(weights.Next(2, 64), Step::kShare);
}

TEST(SharedWeights, AfterSomeFaultsNobodySharesAnyMore) {
  SharedWeights weights;
  for (uint32_t worker = 0; worker < kMostSharingFaults; ++worker) {
    EXPECT_EQ(weights.Next(worker, 64), Step::kShare);
    weights.TakeAnswer(worker, 0, UniqueFd());
  }
  EXPECT_EQ(weights.Next(9, 64), Step::kOwn);
}

TEST(SharedWeights, OfManyFaultsOnlyThoseInARowCount) {
  SharedWeights weights;
  for (uint32_t turn = 0; turn < 2 * kMostSharingFaults; ++turn) {
    EXPECT_EQ(weights.Next(0, 64), Step::kShare);
    weights.Forget(0);
    EXPECT_EQ(weights.Next(1, 64), Step::kShare);
    weights.TakeAnswer(1, 64, SomeMemory());
    EXPECT_EQ(weights.Next(2, 64), Step::kUse);
    weights.TakeAnswer(2, 64, UniqueFd());
    EXPECT_EQ(weights.Next(2, 64), Step::kUse);
    weights.TakeAnswer(2, 0, UniqueFd());
  }
}

}  // namespace
}  // namespace mpsd

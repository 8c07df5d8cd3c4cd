// The machine itself, by the small programs whose outcomes are known.
#include "tests/model/machine.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/model/simulated_atomics.h"

namespace mpsd::model {
namespace {

constexpr std::memory_order kSequential = std::memory_order_seq_cst;

// Each of two threads stores its own word and loads the other's. True when both may load 0.
bool BothMayLoadZero(std::memory_order store, std::memory_order load) {
  Machine machine;
  SimulatedWord words[2];
  SimulatedWord seen;
  const auto body = [&](int own) {
    return [&words, &seen, own, store, load] {
      words[own].store(1, store);
      if (words[1 - own].load(load) != 0) return;
      const uint32_t before = seen.Do(Operation::Kind::kAdd, 1);
      Machine::current()->Expect(before == 0, "both");
    };
  };
  return machine.Search({body(0), body(1)}).fault == "both";
}

TEST(Machine, LetsBothSidesMissEachOtherBelowSequentialConsistency) {
  EXPECT_TRUE(BothMayLoadZero(kRelaxed, kRelaxed));
  EXPECT_TRUE(BothMayLoadZero(kRelease, kAcquire));
  EXPECT_TRUE(BothMayLoadZero(kSequential, kAcquire));
  EXPECT_TRUE(BothMayLoadZero(kRelease, kSequential));
}

TEST(Machine, LetsOneSideSeeTheOtherWithSequentialConsistency) {
  EXPECT_FALSE(BothMayLoadZero(kSequential, kSequential));
}

// A word is stored, then a flag. True when the flag may be seen without the word.
bool FlagMayComeFirst(std::memory_order store, std::memory_order load) {
  Machine machine;
  SimulatedWord word;
  SimulatedWord flag;
  const auto writer = [&] {
    word.store(1, kRelaxed);
    flag.store(1, store);
  };
  const auto reader = [&] {
    if (flag.load(load) == 0) return;
    Machine::current()->Expect(word.load(kRelaxed) == 1, "stale");
  };
  return machine.Search({writer, reader}).fault == "stale";
}

TEST(Machine, LetsAFlagComeBeforeItsWordUnlessReleasedAndAcquired) {
  EXPECT_TRUE(FlagMayComeFirst(kRelaxed, kRelaxed));
  EXPECT_TRUE(FlagMayComeFirst(kRelease, kRelaxed));
  EXPECT_TRUE(FlagMayComeFirst(kRelaxed, kAcquire));
  EXPECT_FALSE(FlagMayComeFirst(kRelease, kAcquire));
  EXPECT_FALSE(FlagMayComeFirst(kSequential, kSequential));
}

TEST(Machine, NeverLoadsAnOlderValueAfterANewerOne) {
  Machine machine;
  SimulatedWord word;
  const auto writer = [&] {
    for (uint32_t i = 1; i <= 3; ++i) word.store(i, kRelaxed);
  };
  const auto reader = [&] {
    const uint32_t first = word.load(kRelaxed);
    Machine::current()->Expect(word.load(kRelaxed) >= first, "went back");
  };
  EXPECT_EQ(machine.Search({writer, reader}).fault, "");
}

TEST(Machine, TriesEveryValueThatALoadMayTake) {
  Machine machine;
  SimulatedWord word;
  std::set<std::pair<uint32_t, uint32_t>> loaded;
  const auto writer = [&] {
    word.store(1, kRelaxed);
    word.store(2, kRelaxed);
  };
  const auto reader = [&] {
    const uint32_t first = word.load(kRelaxed);
    const uint32_t second = word.load(kRelaxed);
    if (Machine::current()->Running()) loaded.emplace(first, second);
  };
  EXPECT_EQ(machine.Search({writer, reader}).fault, "");
  EXPECT_EQ(loaded.size(), 6u);
}

TEST(Machine, ReportsPlainAccessesThatNothingOrders) {
  Machine machine;
  SimulatedWord word(SimulatedWord::Kind::kPlain);
  const auto writer = [&] { word.store(1, kRelaxed); };
  const auto reader = [&] { word.load(kRelaxed); };
  EXPECT_NE(machine.Search({writer, reader}).fault, "");
}

TEST(Machine, ReportsASleepThatNobodyEnds) {
  Machine machine;
  SimulatedWord word;
  const auto sleeper = [&] { word.Do(Operation::Kind::kWaitOnWord, 0); };
  const auto waker = [&] { word.Do(Operation::Kind::kWakeWord); };
  EXPECT_NE(machine.Search({sleeper, waker}).fault, "") << "a wake without a changed word is lost";
}

TEST(Machine, EndsASleepWhoseWordWasChangedBeforeTheWake) {
  Machine machine;
  SimulatedWord word;
  const auto sleeper = [&] { word.Do(Operation::Kind::kWaitOnWord, 0); };
  const auto waker = [&] {
    word.store(1, kRelaxed);
    word.Do(Operation::Kind::kWakeWord);
  };
  EXPECT_EQ(machine.Search({sleeper, waker}).fault, "");
}

TEST(Machine, ReportsTwoWritersOfOneWord) {
  Machine machine;
  SimulatedWord word;
  const auto writer = [&] { word.store(1, kRelaxed); };
  EXPECT_NE(machine.Search({writer, writer}).fault, "");
}

}  // namespace
}  // namespace mpsd::model

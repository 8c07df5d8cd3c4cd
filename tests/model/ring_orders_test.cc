// Ring and doorbell, as they stand in proto/shm, under every interleaving and every stale value
// that their memory orders allow; and the same with one order weakened, which must be noticed.

#include <gtest/gtest.h>

#include <atomic>
#include <ostream>
#include <string>
#include <vector>

#include "tests/model/ring_scenarios.h"
#include "tests/model/simulated_atomics.h"

namespace mpsd::model {
namespace {

using Atomics = SimulatedAtomics;

[[maybe_unused]] void PrintTo(const Scenario& scenario, std::ostream* stream) {
  *stream << scenario.name;
}

class RingModel : public testing::TestWithParam<Scenario> {};

TEST_P(RingModel, LosesNoEntryAndNoWake) {
  const Verdict verdict = GetParam().search();
  EXPECT_EQ(verdict.fault, "") << verdict.trace;
  EXPECT_TRUE(verdict.whole);
  EXPECT_GT(verdict.states, 500u) << "so few states say little";
  RecordProperty("states", static_cast<int>(verdict.states));
}

INSTANTIATE_TEST_SUITE_P(Each, RingModel, testing::ValuesIn(RingScenarios()),
                         [](const auto& test) { return test.param.name; });

// An order that production has, and a weaker one in its place.
struct Weakened {
  const char* name;
  std::memory_order* order;
  std::memory_order instead;
};

void PrintTo(const Weakened& weakened, std::ostream* stream) { *stream << weakened.name; }

class RingOrder : public testing::TestWithParam<Weakened> {
 protected:
  RingOrder() : before_(*GetParam().order) { *GetParam().order = GetParam().instead; }
  ~RingOrder() override { *GetParam().order = before_; }

 private:
  const std::memory_order before_;
};

TEST_P(RingOrder, IsNeeded) { EXPECT_NE(FirstFault(), ""); }

INSTANTIATE_TEST_SUITE_P(
    Weakened, RingOrder,
    testing::Values(Weakened{"HeadStoreToRelaxed", &Atomics::kHeadStore, kRelaxed},
                    Weakened{"HeadLoadToRelaxed", &Atomics::kHeadLoad, kRelaxed},
                    Weakened{"TailStoreToRelease", &Atomics::kTailStore, kRelease},
                    Weakened{"TailStoreToRelaxed", &Atomics::kTailStore, kRelaxed},
                    Weakened{"TailLoadToAcquire", &Atomics::kTailLoad, kAcquire},
                    Weakened{"TailLoadToRelaxed", &Atomics::kTailLoad, kRelaxed},
                    Weakened{"ParkStoreToRelease", &Atomics::kParkStore, kRelease},
                    Weakened{"ParkStoreToRelaxed", &Atomics::kParkStore, kRelaxed},
                    Weakened{"ParkedLoadToAcquire", &Atomics::kParkedLoad, kAcquire},
                    Weakened{"ParkedLoadToRelaxed", &Atomics::kParkedLoad, kRelaxed}),
    [](const auto& test) { return test.param.name; });

// An order that is relaxed in production cannot be weakened. The list above has all others.
TEST(RingOrders, ThatAreNotInTheListAreRelaxed) {
  for (const std::memory_order order :
       {SharedAtomics::kEntryStore, SharedAtomics::kEntryLoad, SharedAtomics::kTailCheck,
        SharedAtomics::kUnparkStore, SharedAtomics::kSequenceStore, SharedAtomics::kSequenceLoad}) {
    EXPECT_EQ(order, kRelaxed);
  }
}

}  // namespace
}  // namespace mpsd::model

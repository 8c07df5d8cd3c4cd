#include "tests/metal/gpu/shared_event.h"

#include <thread>

#include "tests/metal/rules/rule_test.h"

namespace mpsd::standin {
namespace {

using SharedEventTest = RuleTest;

TEST_F(SharedEventTest, AWaitEndsWithItsValueOrALargerOne) {
  SharedEvent event;
  std::thread signaller([&] { event.Signal(3); });
  event.WaitFor(2);
  signaller.join();
  EXPECT_EQ(event.value(), 3U);
  EXPECT_EQ(Total(), 0U);
}

TEST_F(SharedEventTest, AListenerRunsOnceItsValueIsReached) {
  SharedEvent event;
  int runs = 0;
  event.WhenReached(2, [&] { ++runs; });
  event.Signal(1);
  EXPECT_EQ(runs, 0);
  event.Signal(2);
  event.Signal(3);
  EXPECT_EQ(runs, 1);
  event.WhenReached(3, [&] { ++runs; });
  EXPECT_EQ(runs, 2);
}

TEST_F(SharedEventTest, AValueThatGoesBackBreaksTheRule) {
  SharedEvent event;
  event.Signal(2);
  event.Signal(1);
  EXPECT_EQ(Count(kEventGoesBack), 1U);
}

}  // namespace
}  // namespace mpsd::standin

#include "tests/metal/rules/one_thread.h"

#include <optional>
#include <thread>

#include "tests/metal/rules/rule_test.h"

namespace mpsd::standin {
namespace {

using OneThreadTest = RuleTest;

TEST_F(OneThreadTest, ASecondThreadBreaksTheRuleWhileTheFirstIsInside) {
  OneThread object("buffer");
  const OneThread::Turn turn(object);
  std::thread([&] { const OneThread::Turn other(object); }).join();
  EXPECT_EQ(Count(kTwoThreads), 1U);
}

TEST_F(OneThreadTest, ACallMayMakeFurtherCalls) {
  OneThread object("buffer");
  const OneThread::Turn outer(object);
  { const OneThread::Turn inner(object); }
  std::thread([&] { const OneThread::Turn other(object); }).join();
  EXPECT_EQ(Count(kTwoThreads), 1U) << "the end of the inner call is not the end of the outer";
}

TEST_F(OneThreadTest, ThreadsMayTakeTurns) {
  OneThread object("buffer");
  { const OneThread::Turn turn(object); }
  std::thread([&] { const OneThread::Turn turn(object); }).join();
  EXPECT_EQ(Total(), 0U);
}

// The refused thread leaves the object to the one that is inside.
TEST_F(OneThreadTest, ARefusedThreadEndsNobodysTurn) {
  OneThread object("buffer");
  std::optional<OneThread::Turn> turn(object);
  std::thread([&] { const OneThread::Turn other(object); }).join();
  std::thread([&] { const OneThread::Turn other(object); }).join();
  EXPECT_EQ(Count(kTwoThreads), 2U);
  turn.reset();
  std::thread([&] { const OneThread::Turn other(object); }).join();
  EXPECT_EQ(Count(kTwoThreads), 2U);
}

}  // namespace
}  // namespace mpsd::standin

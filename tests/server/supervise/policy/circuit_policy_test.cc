#include "server/supervise/policy/circuit_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr CircuitLimits kLimits = {3, 60 * kNsPerSecond};
constexpr int64_t kStart = 1000 * kNsPerSecond;

// Opens the circuit with deaths at `now_ns`.
void Open(Circuit* circuit, int64_t now_ns) {
  while (circuit->state() != CircuitState::kOpen) circuit->OnDeath(now_ns, 0);
}

TEST(Circuit, OpensAtTheLastOfTooManyDeaths) {
  Circuit circuit(kLimits);
  circuit.OnDeath(kStart, 0);
  circuit.OnDeath(kStart + 1, 0);
  EXPECT_TRUE(circuit.MayStart(kStart + 1, 5));
  circuit.OnDeath(kStart + 2, 0);
  EXPECT_EQ(circuit.state(), CircuitState::kOpen);
  EXPECT_FALSE(circuit.MayStart(kStart + 2, 0));
  EXPECT_EQ(circuit.open_until_ns(), kStart + 2 + kFirstRestNs);
}

TEST(Circuit, ForgetsDeathsOlderThanThePeriod) {
  Circuit circuit(kLimits);
  for (int i = 0; i < 20; ++i) circuit.OnDeath(kStart + i * 30 * kNsPerSecond, 0);
  EXPECT_EQ(circuit.state(), CircuitState::kClosed) << "two a minute are allowed";
}

TEST(Circuit, NeverOpensWhereNoDeathsAreTooMany) {
  Circuit circuit({0, 60 * kNsPerSecond});
  for (int i = 0; i < 1000; ++i) circuit.OnDeath(kStart, 0);
  EXPECT_TRUE(circuit.MayStart(kStart, 0));
}

TEST(Circuit, APeriodOfNothingForgetsEachDeathAtOnce) {
  Circuit circuit({2, 0});
  for (int i = 0; i < 5; ++i) circuit.OnDeath(kStart, 0);
  EXPECT_EQ(circuit.state(), CircuitState::kClosed);
}

TEST(Circuit, AStrikeExplainsTheDeathBeforeItToo) {
  Circuit circuit(kLimits);
  for (int request = 0; request < 20; ++request) {
    circuit.OnDeath(kStart + 2 * request, 0);
    circuit.OnStrike();
  }
  EXPECT_EQ(circuit.state(), CircuitState::kClosed) << "whoever sends what crashes it is to blame";
  circuit.OnStrike();
  circuit.OnDeath(kStart + 50, 0);
  circuit.OnDeath(kStart + 51, 0);
  EXPECT_EQ(circuit.state(), CircuitState::kClosed) << "there was nothing to take back";
  circuit.OnDeath(kStart + 52, 0);
  EXPECT_EQ(circuit.state(), CircuitState::kOpen);
}

TEST(Circuit, AfterItsRestOneWorkerProbesAndTheOthersWait) {
  Circuit circuit(kLimits);
  Open(&circuit, kStart);
  EXPECT_FALSE(circuit.MayStart(kStart + kFirstRestNs - 1, 0));
  EXPECT_TRUE(circuit.MayStart(kStart + kFirstRestNs, 0));
  EXPECT_EQ(circuit.state(), CircuitState::kProbing);
  EXPECT_FALSE(circuit.MayStart(kStart + kFirstRestNs, 1));
  circuit.OnServing();
  EXPECT_EQ(circuit.state(), CircuitState::kClosed);
  EXPECT_TRUE(circuit.MayStart(kStart + kFirstRestNs, 1));
}

TEST(Circuit, AProbeThatDiesOpensItForTwiceAsLongUpToHalfAMinute) {
  Circuit circuit(kLimits);
  Open(&circuit, kStart);
  int64_t now_ns = kStart;
  int64_t rest_ns = kFirstRestNs;
  for (int i = 0; i < 10; ++i) {
    now_ns += rest_ns;
    ASSERT_TRUE(circuit.MayStart(now_ns, 0)) << i;
    circuit.OnDeath(now_ns, 0);
    rest_ns = std::min(2 * rest_ns, kLastRestNs);
    ASSERT_EQ(circuit.open_until_ns(), now_ns + rest_ns) << i;
  }
  EXPECT_EQ(rest_ns, kLastRestNs);
}

TEST(Circuit, GoodServiceMakesTheNextRestShortAgain) {
  Circuit circuit(kLimits);
  Open(&circuit, kStart);
  EXPECT_TRUE(circuit.MayStart(kStart + kFirstRestNs, 0));
  circuit.OnServing();
  Open(&circuit, kStart + 100);
  EXPECT_EQ(circuit.open_until_ns(), kStart + 100 + 2 * kFirstRestNs);
  EXPECT_TRUE(circuit.MayStart(kStart + 100 + 2 * kFirstRestNs, 0));
  circuit.OnServing();
  circuit.OnGoodService();
  Open(&circuit, kStart + 200);
  EXPECT_EQ(circuit.open_until_ns(), kStart + 200 + kFirstRestNs);
}

TEST(Circuit, JitterTakesUpToAQuarterOfTheRest) {
  Circuit circuit({1, kNsPerSecond});
  circuit.OnDeath(kStart, 0.5);
  EXPECT_EQ(circuit.open_until_ns(), kStart + kFirstRestNs * 7 / 8);
}

}  // namespace
}  // namespace mpsd

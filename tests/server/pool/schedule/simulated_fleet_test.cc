#include "load_tests/simulator/simulated_fleet.h"

#include <gtest/gtest.h>

#include "proto/base/clock.h"
#include "server/pool/schedule/predictive_scheduler.h"

namespace mpsd {
namespace {

constexpr double kFleetRate = 120;
constexpr int64_t kHour = 3600 * kNsPerSecond;

FleetOutcome Scaled(const Scaler& scaler) {
  const PredictiveScheduler scheduler(1, 0);
  SimulatedPool::Options options;
  options.lanes = 2;
  options.max_batch_rows = 16;
  options.slo_ns = 1500 * kNsPerMs;
  const auto curve = [](uint32_t rows) { return 200e6 + 20e6 * (rows - 1); };
  SimulatedFleet fleet(&scheduler, curve, options, 6 * kNsPerSecond, 20);
  return fleet.Run(
      scaler, [](int64_t) { return kFleetRate; }, kHour);
}

TEST(SimulatedFleet, TheForecastKeepsTheSloWithTwoHostsWhereOneMissesIt) {
  const FleetOutcome forecast = Scaled([](const FleetFigures& figures) { return figures.needed; });
  EXPECT_LT(forecast.MissedShare(), 0.03) << "one host has too much until the next one serves";
  EXPECT_LT(forecast.host_hours, 3);
}

TEST(SimulatedFleet, OneHostMissesTheSlo) {
  const FleetOutcome outcome = Scaled([](const FleetFigures&) { return 1; });
  EXPECT_GT(outcome.MissedShare(), 0.1);
  EXPECT_NEAR(outcome.host_hours, 1, 1e-9);
}

TEST(SimulatedFleet, AHostServesAMinuteAfterItsStart) {
  uint32_t looks_with_one = 0;
  Scaled([&](const FleetFigures& figures) {
    looks_with_one += figures.hosts == 1 ? 1 : 0;
    return 2;
  });
  EXPECT_EQ(looks_with_one, 1 + SimulatedFleet::kStartNs / SimulatedFleet::kLookNs);
}

TEST(SimulatedFleet, AHostGoesOnceNoLookOfFiveMinutesWantsIt) {
  int looks = 0;
  uint32_t looks_with_two = 0;
  Scaled([&](const FleetFigures& figures) {
    looks_with_two += figures.hosts == 2 ? 1 : 0;
    return looks++ < 10 ? 2 : 1;
  });
  EXPECT_NEAR(looks_with_two, 10 + SimulatedFleet::kStableNs / SimulatedFleet::kLookNs, 6);
}

}  // namespace
}  // namespace mpsd

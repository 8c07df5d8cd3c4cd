// A scheduler's policy as a whole, in virtual time: what comes of it over thousands of batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "server/schedule/predictive_scheduler.h"
#include "tests/server/schedule/simulated_pool.h"

namespace mpsd {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLength = 2000 * kMs;
constexpr uint32_t kMostRows = 64;

// A model that gains much from batches: 1045 a second alone, 8300 in batches of 64.
double Affine(uint32_t rows) { return 850e3 + 107e3 * rows; }

// One that was measured: from two to sixteen rows it takes about the same time.
double Stepped(uint32_t rows) {
  static constexpr double kRows[] = {1, 2, 16, 24, 32, 64};
  static constexpr double kMillis[] = {1.5, 2.5, 2.9, 3.6, 5.8, 9.8};
  size_t i = 1;
  while (rows > kRows[i]) ++i;
  const double part = (rows - kRows[i - 1]) / (kRows[i] - kRows[i - 1]);
  return 1e6 * (kMillis[i - 1] + part * (kMillis[i] - kMillis[i - 1]));
}

using Options = SimulatedPool::Options;

SimulatedOutcome Simulate(const TrueCurve& curve, const SimulatedLoad& load, Options options = {}) {
  const PredictiveScheduler scheduler(1, 0);
  return SimulatedPool(&scheduler, curve, options).Run(load);
}

SimulatedLoad Open(double requests_per_s, int64_t deadline_ns) {
  return {.requests_per_s = requests_per_s, .deadline_ns = deadline_ns, .length_ns = kLength};
}

SimulatedLoad Closed(uint32_t clients) {
  return {.clients = clients, .return_ns = 150'000, .length_ns = kLength};
}

Options Eager() {
  Options options;
  options.knows = false;
  return options;
}

TEST(Simulation, EachRequestHasOneEnding) {
  const SimulatedOutcome outcome = Simulate(Affine, Open(9600, 15 * kMs));
  const uint64_t ended = outcome.good + outcome.late + outcome.refused + outcome.dropped;
  EXPECT_LE(ended, outcome.offered);
  EXPECT_GE(ended + 2 * kMostRows + 64, outcome.offered) << "all but those still inside";
}

TEST(Simulation, OverloadIsServedLikeFullLoad) {
  for (const int64_t deadline_ns : {5 * kMs, 15 * kMs, 30 * kMs}) {
    double peak = 0;
    for (const double rate : {3200., 4800., 6400., 8000., 9600.}) {
      peak = std::max(peak, Simulate(Affine, Open(rate, deadline_ns)).GoodPerS());
    }
    for (const double rate : {12'000., 16'000., 24'000.}) {
      EXPECT_GE(Simulate(Affine, Open(rate, deadline_ns)).GoodPerS(), 0.9 * peak)
          << rate << " a second, " << deadline_ns / kMs << " ms";
    }
  }
}

TEST(Simulation, EagerlyOverloadIsNotServedAtAll) {
  EXPECT_LT(Simulate(Affine, Open(12'000, 15 * kMs), Eager()).GoodPerS(), 1000)
      << "or the tests above say nothing";
}

TEST(Simulation, LittleOfWhatWasLetInIsTooLate) {
  for (const double rate : {6400., 9600., 14'400.}) {
    const SimulatedOutcome outcome = Simulate(Affine, Open(rate, 15 * kMs));
    EXPECT_LT(outcome.late, outcome.offered / 50) << rate;
  }
}

TEST(Simulation, BelowItsCapacityNobodyIsRefused) {
  for (const double rate : {400., 1600., 3200., 4800.}) {
    const SimulatedOutcome outcome = Simulate(Affine, Open(rate, 15 * kMs));
    EXPECT_EQ(outcome.refused + outcome.dropped + outcome.late, 0u) << rate;
  }
}

TEST(Simulation, WithTightDeadlinesItIsNotMuchWorseThanAnEagerOne) {
  for (const TrueCurve& curve : {TrueCurve(Affine), TrueCurve(Stepped)}) {
    for (const double rate : {800., 1600., 2400., 3200., 4800.}) {
      const double eager = Simulate(curve, Open(rate, 5 * kMs), Eager()).GoodPerS();
      EXPECT_GE(Simulate(curve, Open(rate, 5 * kMs)).GoodPerS(), 0.9 * eager) << rate;
    }
  }
}

TEST(Simulation, ClientsInAClosedLoopAreServedNoSlower) {
  for (const TrueCurve& curve : {TrueCurve(Affine), TrueCurve(Stepped)}) {
    for (const uint32_t clients : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u}) {
      const SimulatedOutcome eager = Simulate(curve, Closed(clients), Eager());
      const SimulatedOutcome outcome = Simulate(curve, Closed(clients));
      EXPECT_GE(outcome.GoodPerS(), 0.99 * eager.GoodPerS()) << clients;
      EXPECT_LE(outcome.MeanNs(), 1.01 * eager.MeanNs()) << clients;
    }
  }
}

TEST(Simulation, ClientsInAClosedLoopShareABatch) {
  const double bare = 1e9 * 16 / Affine(16);
  EXPECT_GE(Simulate(Affine, Closed(16)).GoodPerS(), 0.8 * bare);
  EXPECT_LT(Simulate(Affine, Closed(16), Eager()).GoodPerS(), 0.77 * bare) << "two halves";
}

TEST(Simulation, ManyLanesShareTheLoad) {
  Options options;
  options.lanes = 4;
  const double one = Simulate(Affine, Open(12'000, 15 * kMs)).GoodPerS();
  EXPECT_GE(Simulate(Affine, Open(48'000, 15 * kMs), options).GoodPerS(), 3.5 * one);
}

TEST(Simulation, AModelThatBecomesSlowerIsServedAtItsNewPace) {
  double factor = 1;
  const TrueCurve changing = [&factor](uint32_t rows) { return factor * Affine(rows); };
  const PredictiveScheduler scheduler(1, 0);
  SimulatedPool pool(&scheduler, changing, {});
  pool.Run(Open(4800, 30 * kMs));
  factor = 10;
  pool.Run(Open(4800, 30 * kMs));
  const double slow = pool.Run(Open(4800, 30 * kMs)).GoodPerS();
  EXPECT_GE(slow, 0.6 * Simulate(changing, Open(4800, 30 * kMs)).GoodPerS());
  factor = 1;
  pool.Run(Open(4800, 30 * kMs));
  EXPECT_GE(pool.Run(Open(4800, 30 * kMs)).GoodPerS(), 0.98 * 4800) << "and fast again";
}

}  // namespace
}  // namespace mpsd

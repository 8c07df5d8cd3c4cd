// A scheduler's policy as a whole, in virtual time: what comes of it over thousands of batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "load_tests/simulator/simulated_pool.h"
#include "server/pool/schedule/predictive_scheduler.h"

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

// Forecasts err by a few per cent, and answers take a while to their clients.
Options Lagging(int64_t lag_ns, bool is_careful) {
  Options options;
  options.noise = 0.05;
  options.lag_ns = lag_ns;
  options.is_careful = is_careful;
  return options;
}

double PeakPerS(int64_t deadline_ns, const Options& options) {
  double peak = 0;
  for (const double rate : {3200., 4800., 6400., 8000.}) {
    peak = std::max(peak, Simulate(Affine, Open(rate, deadline_ns), options).GoodPerS());
  }
  return peak;
}

double OverloadedPerS(int64_t deadline_ns, const Options& options) {
  double least = 1e9;
  for (const double rate : {12'000., 16'000., 24'000.}) {
    least = std::min(least, Simulate(Affine, Open(rate, deadline_ns), options).GoodPerS());
  }
  return least;
}

TEST(Simulation, OverloadIsServedLikeFullLoadWhenAnswersLag) {
  for (const int64_t deadline_ns : {5 * kMs, 15 * kMs, 30 * kMs}) {
    const Options lagging = Lagging(deadline_ns / 30, true);
    EXPECT_GE(OverloadedPerS(deadline_ns, lagging), 0.9 * PeakPerS(deadline_ns, lagging))
        << deadline_ns / kMs << " ms";
  }
}

TEST(Simulation, WithoutTheMarginAnswersThatLagAreTooLate) {
  for (const int64_t deadline_ns : {15 * kMs, 30 * kMs}) {
    const int64_t lag_ns = deadline_ns / 30;
    EXPECT_LT(OverloadedPerS(deadline_ns, Lagging(lag_ns, false)),
              0.9 * PeakPerS(deadline_ns, Lagging(lag_ns, true)))
        << deadline_ns / kMs << " ms: or the margin is good for nothing";
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
      Options eager = Eager();
      eager.lag_ns = 150'000;
      Options options;
      options.lag_ns = eager.lag_ns;
      double eager_per_s = 0;
      double per_s = 0;
      for (const uint32_t seed : {1u, 2u, 3u}) {
        eager.seed = options.seed = seed;
        eager_per_s += Simulate(curve, Open(rate, 5 * kMs), eager).GoodPerS();
        per_s += Simulate(curve, Open(rate, 5 * kMs), options).GoodPerS();
      }
      EXPECT_GE(per_s, 0.9 * eager_per_s) << rate;
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

// Sixteen take hardly longer than eight, which nobody knows who has not tried it: up to eight the
// curve is steep. The clients of another load have left meanwhile.
TEST(Simulation, ClientsInAClosedLoopFindABatchThatWasNeverSeen) {
  const auto took_ns = [](uint32_t rows) {
    return rows <= 8 ? 765e3 + 311e3 * rows : 2620e3 + 80e3 * rows;
  };
  Options options;
  options.door_ns = 93'000;
  const PredictiveScheduler scheduler(1, 0);
  SimulatedPool pool(&scheduler, took_ns, options);
  pool.Run(Closed(18));
  const double two_halves = 1e9 * 8 / took_ns(8);
  EXPECT_GE(pool.Run(Closed(16)).GoodPerS(), 1.1 * two_halves);
}

// Half of what the model can do is urgent; with the others it is three times as much.
TEST(Simulation, UrgentRequestsAreServedAsIfTheOthersWereNotThere) {
  SimulatedLoad load = Open(24'000, 30 * kMs);
  load.urgent_share = 1.0 / 6;
  const SimulatedOutcome outcome = Simulate(Affine, load);
  EXPECT_GE(static_cast<double>(outcome.urgent_good), 0.98 * outcome.urgent_offered);
  load.urgent_share = 0;
  EXPECT_GE(outcome.GoodPerS(), 0.9 * Simulate(Affine, load).GoodPerS())
      << "the others fill the batches";
}

constexpr int64_t kTarget = 20 * kMs;

// As many may wait as take a quarter of a second.
Options Bounded(int64_t target_ns = kTarget) {
  Options options;
  options.queue_requests = 2048;
  options.target_ns = target_ns;
  return options;
}

TEST(Simulation, WithoutDeadlinesAStandingQueueIsCutBackAndThePeakStays) {
  const double peak = 1e9 * kMostRows / Affine(kMostRows);
  for (const double rate : {12'000., 16'000., 24'000.}) {
    const SimulatedOutcome outcome = Simulate(Affine, Open(rate, 0), Bounded());
    EXPECT_GE(outcome.GoodPerS(), 0.9 * peak) << rate;
    EXPECT_LE(outcome.longest_wait_ns, kTarget + static_cast<int64_t>(Affine(kMostRows))) << rate;
    EXPECT_GT(Simulate(Affine, Open(rate, 0), Bounded(0)).longest_wait_ns, 5 * kTarget)
        << "or the bound says nothing";
  }
}

TEST(Simulation, BelowItsCapacityNoQueueStands) {
  for (const double rate : {1600., 4800., 7200.}) {
    EXPECT_EQ(Simulate(Affine, Open(rate, 0), Bounded()).refused, 0u) << rate;
  }
}

TEST(Simulation, ABurstIsLetInWithoutDeadlines) {
  const PredictiveScheduler scheduler(1, 0);
  SimulatedPool pool(&scheduler, Affine, Bounded());
  pool.Run(Open(4000, 0));
  SimulatedLoad burst = Open(24'000, 0);
  burst.length_ns = 20 * kMs;
  EXPECT_EQ(pool.Run(burst).refused, 0u);
  EXPECT_EQ(pool.Run(Open(4000, 0)).refused, 0u);
}

// A tenant, and another one that offers a hundred times as much.
SimulatedLoad Flooded(double victim_per_s, int64_t deadline_ns, int64_t length_ns) {
  SimulatedLoad load = Open(101 * victim_per_s, deadline_ns);
  load.victim_share = 1.0 / 101;
  load.length_ns = length_ns;
  return load;
}

Options Unfair() {
  Options options;
  options.is_fair = false;
  return options;
}

double JainOfLaneTime(const SimulatedOutcome& outcome) {
  const double one = outcome.tenants[0].lane_ns;
  const double other = outcome.tenants[1].lane_ns;
  return (one + other) * (one + other) / (2 * (one * one + other * other));
}

TEST(Simulation, TenantsThatBothAskForTooMuchHaveEqualLaneTime) {
  for (const int64_t deadline_ns : {int64_t{0}, 30 * kMs}) {
    const SimulatedLoad load = Flooded(8000, deadline_ns, 200 * kMs);
    EXPECT_GE(JainOfLaneTime(Simulate(Affine, load)), 0.95) << deadline_ns;
    EXPECT_LT(JainOfLaneTime(Simulate(Affine, load, Unfair())), 0.6) << "or the bound says nothing";
  }
}

// A batch that runs is not taken back, and the victim's own batch is filled with the other's rows.
TEST(Simulation, ATenantThatAsksForLessThanItsShareWaitsForNoMoreThanTwoBatches) {
  const auto two_batches = static_cast<int64_t>(2.2 * Affine(kMostRows));
  for (const int64_t deadline_ns : {int64_t{0}, 30 * kMs}) {
    for (const double rate : {100., 800., 3000.}) {
      const OutcomeOfTenant victim =
          Simulate(Affine, Flooded(rate, deadline_ns, 500 * kMs)).tenants[1];
      EXPECT_GE(victim.GoodShare(), 0.97) << rate;
      EXPECT_LE(victim.QuantileNs(0.99), two_batches) << rate;
    }
  }
  const SimulatedLoad load = Flooded(800, 30 * kMs, 500 * kMs);
  EXPECT_LT(Simulate(Affine, load, Unfair()).tenants[1].GoodShare(), 0.2)
      << "or the bounds say nothing";
}

TEST(Simulation, ManyLanesShareTheLoad) {
  Options options;
  options.lanes = 4;
  const double one = Simulate(Affine, Open(12'000, 15 * kMs)).GoodPerS();
  EXPECT_GE(Simulate(Affine, Open(48'000, 15 * kMs), options).GoodPerS(), 3.5 * one);
}

// If too many are let in, all wait so long that only small batches are in time.
TEST(Simulation, OverloadOfManyLanesIsServedLikeFullLoad) {
  Options options;
  options.lanes = 4;
  options.queue_requests = 4096;
  for (const int64_t deadline_ns : {5 * kMs, 15 * kMs}) {
    const double full = Simulate(Affine, Open(32'000, deadline_ns), options).GoodPerS();
    for (const double rate : {48'000., 96'000.}) {
      EXPECT_GE(Simulate(Affine, Open(rate, deadline_ns), options).GoodPerS(), 0.97 * full)
          << rate << " a second, " << deadline_ns / kMs << " ms";
    }
  }
}

// Lanes that are free together start with few rows each, and then all are busy.
TEST(Simulation, ManyLanesBecomeFreeOneAfterTheOther) {
  Options options;
  options.lanes = 16;
  options.queue_requests = 4096;
  EXPECT_GE(Simulate(Affine, Open(96'000, 5 * kMs), options).GoodPerS(), 0.97 * 96'000);
  const SimulatedOutcome half = Simulate(Affine, Open(64'000, 30 * kMs), options);
  EXPECT_LE(half.tenants[0].QuantileNs(0.99), 3.5 * kMs);
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

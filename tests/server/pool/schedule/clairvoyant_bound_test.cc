// The bound of all schedules, beside all schedules of a few requests.
#include "load_tests/simulator/clairvoyant_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "load_tests/simulator/simulated_pool.h"
#include "server/pool/schedule/predictive_scheduler.h"

namespace mpsd {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

double BatchNs(uint32_t rows) { return 850e3 + 107e3 * rows; }

// Tries each subset of `left`, a set of bits, as the next batch.
uint64_t MostOfAll(const std::vector<int64_t>& arrivals_ns, int64_t deadline_ns, uint32_t most_rows,
                   uint32_t left, int64_t free_ns) {
  uint64_t most = 0;
  for (uint32_t batch = left; batch > 0; batch = (batch - 1) & left) {
    const auto rows = static_cast<uint32_t>(__builtin_popcount(batch));
    const int64_t first_ns = arrivals_ns[static_cast<size_t>(__builtin_ctz(batch))];
    const int64_t last_ns = arrivals_ns[static_cast<size_t>(31 - __builtin_clz(batch))];
    const int64_t end_ns = std::max(free_ns, last_ns) + static_cast<int64_t>(BatchNs(rows));
    if (rows > most_rows || end_ns > first_ns + deadline_ns) continue;
    most = std::max(most,
                    rows + MostOfAll(arrivals_ns, deadline_ns, most_rows, left & ~batch, end_ns));
  }
  return most;
}

TEST(ClairvoyantBound, IsTheBestOfAllSchedules) {
  std::mt19937_64 random(1);
  uint64_t some_lost = 0;
  for (int round = 0; round < 300; ++round) {
    const int64_t deadline_ns =
        std::uniform_int_distribution<int64_t>(957'000, 4 * kMillisecond)(random);
    const auto most_rows = std::uniform_int_distribution<uint32_t>(1, 4)(random);
    std::vector<int64_t> arrivals_ns(7);
    for (int64_t& at_ns : arrivals_ns) {
      at_ns = std::uniform_int_distribution<int64_t>(0, 3 * kMillisecond)(random);
    }
    std::sort(arrivals_ns.begin(), arrivals_ns.end());
    const uint64_t best = MostOfAll(arrivals_ns, deadline_ns, most_rows, (1u << 7) - 1, 0);
    EXPECT_EQ(MostAnsweredInTime(arrivals_ns, deadline_ns, most_rows, BatchNs), best) << round;
    some_lost += best < 7 ? 1 : 0;
  }
  EXPECT_GT(some_lost, 100u) << "or the bound is not tried";
}

TEST(ClairvoyantBound, KnowsNoRequestsAndNoTime) {
  EXPECT_EQ(MostAnsweredInTime({}, kMillisecond, 64, BatchNs), 0u);
  EXPECT_EQ(MostAnsweredInTime({0, 1, 2}, kMillisecond / 2, 64, BatchNs), 0u);
}

// Batches take a tenth more or less than is forecast, and nobody knows who comes next.
TEST(ClairvoyantBound, TheSchedulerComesNear) {
  for (const int64_t deadline_ns : {5 * kMillisecond, 15 * kMillisecond, 30 * kMillisecond}) {
    for (const double rate : {3200., 6400., 12'000.}) {
      const SimulatedLoad load = {
          .requests_per_s = rate, .deadline_ns = deadline_ns, .length_ns = 500 * kMillisecond};
      const std::vector<int64_t> arrivals_ns = PoissonArrivals(load, 1);
      const uint64_t most = MostAnsweredInTime(arrivals_ns, deadline_ns, 64, BatchNs);
      const PredictiveScheduler scheduler(1, 0);
      SimulatedPool pool(&scheduler, BatchNs, {});
      pool.Run(load);
      const SimulatedOutcome outcome = pool.Run(load);
      // The arrivals are others.
      const double share = static_cast<double>(outcome.good) / outcome.offered;
      const double bound = static_cast<double>(most) / arrivals_ns.size();
      EXPECT_GE(share, 0.85 * bound) << rate << " a second, " << deadline_ns << " ns";
      EXPECT_LE(share, 1.02 * bound) << rate << " a second, " << deadline_ns << " ns";
    }
  }
}

}  // namespace
}  // namespace mpsd

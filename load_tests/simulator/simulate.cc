// mpsd-simulate: runs the daemon's own scheduler under a load, in virtual time.
//
// Run with:
//   mpsd-simulate --curve 1=1.2ms,16=2.9ms,64=9.8ms --rate 9600 --deadline 15ms --door 25us
//
// Prints JSON. --clairvoyant prints the bound of all schedules.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "load_tests/simulator/clairvoyant_bound.h"
#include "load_tests/simulator/simulate_options.h"
#include "load_tests/simulator/simulated_pool.h"
#include "nlohmann/json.hpp"
#include "server/pool/schedule/predictive_scheduler.h"

namespace mpsd::load {
namespace {

nlohmann::json Report(const SimulatedOutcome& outcome) {
  const auto us = [&](double quantile) {
    return static_cast<double>(outcome.tenants[0].QuantileNs(quantile)) * 1e-3;
  };
  const auto per_second = [&](uint64_t count) {
    return static_cast<double>(count) / outcome.seconds;
  };
  return {{"offered", per_second(outcome.offered)},
          {"throughput", per_second(outcome.good + outcome.late)},
          {"goodput", outcome.GoodPerS()},
          {"refused", per_second(outcome.refused)},
          {"dropped", per_second(outcome.dropped)},
          {"mean_batch", outcome.batches > 0 ? outcome.MeanBatch() : 0},
          {"latency_us", {{"p50", us(0.5)}, {"p99", us(0.99)}}}};
}

nlohmann::json Simulated(const SimulateOptions& options) {
  const PredictiveScheduler scheduler(1, options.max_delay_ns);
  SimulatedPool pool(&scheduler, CurveOf(options), options.pool);
  SimulatedLoad learning = options.load;
  learning.length_ns = options.learning_ns;
  if (learning.length_ns > 0) pool.Run(learning);
  return Report(pool.Run(options.load));
}

// Counts answers after the last arrival: the uncounted learning time has such answers, too.
nlohmann::json Clairvoyant(const SimulateOptions& options) {
  SimulatedLoad all = options.load;
  all.length_ns += options.learning_ns;
  const std::vector<int64_t> arrivals_ns = PoissonArrivals(all, options.pool.seed);
  const std::vector<int64_t> before_ns(
      arrivals_ns.begin(),
      std::lower_bound(arrivals_ns.begin(), arrivals_ns.end(), options.learning_ns));
  const auto most = [&](const std::vector<int64_t>& of_ns) {
    return MostAnsweredInTime(of_ns, options.load.deadline_ns, options.pool.max_batch_rows,
                              CurveOf(options));
  };
  const double seconds = static_cast<double>(options.load.length_ns) / 1e9;
  return {{"offered", static_cast<double>(arrivals_ns.size() - before_ns.size()) / seconds},
          {"goodput", static_cast<double>(most(arrivals_ns) - most(before_ns)) / seconds}};
}

}  // namespace
}  // namespace mpsd::load

int main(int argc, char** argv) {
  using namespace mpsd::load;
  SimulateOptions options;
  if (const std::optional<int> exit_status = ParseCommandLine(argc, argv, &options)) {
    return *exit_status;
  }
  const nlohmann::json report = options.is_clairvoyant ? Clairvoyant(options) : Simulated(options);
  std::printf("%s\n", report.dump().c_str());
  return 0;
}

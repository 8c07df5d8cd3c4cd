// mpsd-scaling: what a day costs with different scalers, in virtual time.
//
// Run with:
//   mpsd-scaling --hours 24
//
// Prints JSON: for each scaler the requests, the share that missed the SLO, and the host-hours. The
// SLO: 99 of 100 requests take at most 1.5 s.

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "load_tests/simulator/simulated_fleet.h"
#include "nlohmann/json.hpp"
#include "proto/base/clock.h"
#include "server/pool/schedule/predictive_scheduler.h"

namespace mpsd::load {
namespace {

constexpr uint32_t kMaxHosts = 20;
constexpr int64_t kSloNs = 1500 * kNsPerMs;
constexpr int64_t kDeadlineNs = 6000 * kNsPerMs;
constexpr double kMostPerS = 250;

double BatchNs(uint32_t rows) { return 200e6 + 20e6 * (rows - 1); }

// `at` is the time of day, from 0 to 1.
double RateAt(double at) {
  const double wave = (1 - std::cos(2 * std::numbers::pi * at)) / 2;
  const bool is_peak = at >= 0.4 && at < 0.4 + 20.0 / (24 * 60);
  return kMostPerS * (0.05 + 0.95 * wave * wave) * (is_peak ? 2 : 1);
}

std::vector<std::pair<std::string, Scaler>> Scalers() {
  std::vector<std::pair<std::string, Scaler>> scalers = {
      {"mpsd_replicas_needed", [](const FleetFigures& figures) { return figures.needed; }}};
  for (const int target : {1, 4, 16}) {
    scalers.emplace_back("queue " + std::to_string(target),
                         [target](const FleetFigures& figures) { return figures.waits / target; });
  }
  for (const int percent : {50, 70, 90}) {
    scalers.emplace_back("busy " + std::to_string(percent) + "%",
                         [percent](const FleetFigures& figures) {
                           return figures.hosts * figures.busy_share * 100 / percent;
                         });
  }
  return scalers;
}

nlohmann::json Simulated(const Scaler& scaler, double hours) {
  const PredictiveScheduler scheduler(1, 0);
  SimulatedPool::Options options;
  options.lanes = 2;
  options.max_batch_rows = 16;
  options.slo_ns = kSloNs;
  SimulatedFleet fleet(&scheduler, BatchNs, options, kDeadlineNs, kMaxHosts);
  const double length_ns = hours * 3600e9;
  const auto rate_at = [length_ns](int64_t now_ns) {
    return RateAt(static_cast<double>(now_ns) / length_ns);
  };
  const FleetOutcome outcome = fleet.Run(scaler, rate_at, static_cast<int64_t>(length_ns));
  return {{"requests", outcome.offered},
          {"missed", outcome.MissedShare()},
          {"host_hours", outcome.host_hours},
          {"most_hosts", outcome.most_hosts}};
}

}  // namespace
}  // namespace mpsd::load

int main(int argc, char** argv) {
  using namespace mpsd::load;
  CLI::App app("What a day costs with different scalers, in virtual time.");
  double hours = 24;
  app.add_option("--hours", hours, "length of the day")->check(CLI::Range(0.1, 48.0));
  CLI11_PARSE(app, argc, argv);
  nlohmann::json report;
  for (const auto& [name, scaler] : Scalers()) report[name] = Simulated(scaler, hours);
  std::printf("%s\n", report.dump(1).c_str());
  return 0;
}

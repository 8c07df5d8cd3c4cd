#include "load_tests/simulator/simulated_fleet.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mpsd {
namespace {

constexpr double kNsPerHour = 3600e9;
constexpr double kTolerance = 0.1;

}  // namespace

SimulatedFleet::SimulatedFleet(const Scheduler* scheduler, TrueCurve curve,
                               const SimulatedPool::Options& options, int64_t deadline_ns,
                               uint32_t max_hosts)
    : scheduler_(scheduler),
      curve_(std::move(curve)),
      options_(options),
      deadline_ns_(deadline_ns),
      max_hosts_(max_hosts) {
  Start(0);
}

void SimulatedFleet::Start(int64_t serves_ns) {
  ++options_.seed;
  hosts_.push_back({std::make_unique<SimulatedPool>(scheduler_, curve_, options_), serves_ns});
  outcome_.most_hosts = std::max(outcome_.most_hosts, static_cast<uint32_t>(hosts_.size()));
}

FleetOutcome SimulatedFleet::Run(const Scaler& scaler,
                                 const std::function<double(int64_t)>& rate_at, int64_t length_ns) {
  for (int64_t now_ns = 0; now_ns < length_ns; now_ns += kLookNs) {
    const FleetFigures figures = Look(now_ns, rate_at(now_ns));
    outcome_.host_hours += static_cast<double>(hosts_.size() * kLookNs) / kNsPerHour;
    Scale(scaler(figures), now_ns + kLookNs);
  }
  return outcome_;
}

FleetFigures SimulatedFleet::Look(int64_t now_ns, double rate) {
  FleetFigures figures;
  for (const Host& host : hosts_) figures.hosts += host.serves_ns <= now_ns ? 1 : 0;
  SimulatedLoad load;
  load.requests_per_s = rate / figures.hosts;
  load.deadline_ns = deadline_ns_;
  load.length_ns = kLookNs;
  double lane_ns = 0;
  for (const Host& host : hosts_) {
    if (host.serves_ns > now_ns) continue;
    const SimulatedOutcome outcome = host.pool->Run(load);
    Count(outcome);
    lane_ns += outcome.tenants[0].lane_ns;
    figures.waits += static_cast<double>(host.pool->Waits());
    figures.needed += std::max(host.pool->ReplicasNeeded(), 0.0);
  }
  figures.busy_share = lane_ns / (static_cast<double>(kLookNs) * options_.lanes * figures.hosts);
  return figures;
}

void SimulatedFleet::Count(const SimulatedOutcome& outcome) {
  outcome_.offered += outcome.offered;
  outcome_.missed += outcome.refused + outcome.dropped;
  const std::vector<int64_t>& took_ns = outcome.tenants[0].took_ns;
  outcome_.missed += std::count_if(took_ns.begin(), took_ns.end(),
                                   [&](int64_t ns) { return ns > options_.slo_ns; });
}

void SimulatedFleet::Scale(double wanted, int64_t now_ns) {
  const auto hosts = static_cast<double>(hosts_.size());
  const bool is_near = std::abs(wanted / hosts - 1) <= kTolerance;
  wanted_.push_back(
      is_near ? static_cast<uint32_t>(hosts_.size())
              : static_cast<uint32_t>(std::clamp<double>(std::ceil(wanted), 1, max_hosts_)));
  if (wanted_.size() > kStableNs / kLookNs) wanted_.pop_front();
  while (hosts_.size() < wanted_.back()) Start(now_ns + kStartNs);
  const uint32_t most = *std::max_element(wanted_.begin(), wanted_.end());
  while (hosts_.size() > most) {
    SimulatedLoad none;
    none.deadline_ns = deadline_ns_;
    none.length_ns = deadline_ns_;
    Count(hosts_.back().pool->Run(none));
    hosts_.pop_back();
  }
}

}  // namespace mpsd

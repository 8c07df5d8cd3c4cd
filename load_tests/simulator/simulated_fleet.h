// SimulatedFleet: hosts with one model each, added and taken away by a scaler in virtual time.
//
//   trace ─▶ hosts that serve (SimulatedPool) ─▶ FleetFigures ─▶ scaler ─▶ starts, ends
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "load_tests/simulator/simulated_pool.h"

namespace mpsd {

// Sums over the hosts that serve.
struct FleetFigures {
  uint32_t hosts = 0;
  double waits = 0;       // mpsd_queued_requests
  double busy_share = 0;  // part of the lanes' time in batches
  double needed = 0;      // mpsd_replicas_needed
};

// The wanted hosts, before bounds and stabilisation. Pure.
using Scaler = std::function<double(const FleetFigures& figures)>;

struct FleetOutcome {
  uint64_t offered = 0;
  uint64_t missed = 0;  // refused, dropped, or answered after the SLO
  double host_hours = 0;
  uint32_t most_hosts = 0;

  double MissedShare() const { return static_cast<double>(missed) / static_cast<double>(offered); }
};

// Like Kubernetes' HorizontalPodAutoscaler: looks every kLookNs and ignores a change below a tenth.
// Adds hosts at once; takes hosts away only if no look of the last kStableNs wanted them. A new
// host serves after kStartNs; an ending host answers its requests. Hosts share the load equally.
// Deterministic. Lives on one thread.
class SimulatedFleet {
 public:
  static constexpr int64_t kLookNs = 15'000'000'000;
  static constexpr int64_t kStableNs = 300'000'000'000;
  static constexpr int64_t kStartNs = 60'000'000'000;

  // A host is a pool with these options; `slo_ns` is the promise. The fleet has 1 to `max_hosts`
  // hosts, and starts with one.
  SimulatedFleet(const Scheduler* scheduler, TrueCurve curve, const SimulatedPool::Options& options,
                 int64_t deadline_ns, uint32_t max_hosts);

  // `rate_at(time_ns)` is in requests a second.
  FleetOutcome Run(const Scaler& scaler, const std::function<double(int64_t)>& rate_at,
                   int64_t length_ns);

 private:
  struct Host {
    std::unique_ptr<SimulatedPool> pool;
    int64_t serves_ns = 0;
  };

  void Start(int64_t serves_ns);
  FleetFigures Look(int64_t now_ns, double rate);
  void Count(const SimulatedOutcome& outcome);
  void Scale(double wanted, int64_t now_ns);

  const Scheduler* const scheduler_;
  const TrueCurve curve_;
  SimulatedPool::Options options_;
  const int64_t deadline_ns_;
  const uint32_t max_hosts_;
  std::vector<Host> hosts_;
  std::deque<uint32_t> wanted_;  // by the looks of the last kStableNs
  FleetOutcome outcome_;
};

}  // namespace mpsd

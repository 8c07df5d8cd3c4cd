// LoadPoint: the measurement of one load, as a row of a report.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "client/bench/slo.h"
#include "client/client.h"
#include "client/traffic/load_run.h"

namespace mpsd::bench {

using traffic::kMaxRate;
using traffic::kMinRate;

// Clients that each wait for their answer, or requests that come by themselves.
struct Load {
  uint32_t clients = 0;  // closed loop; 0: open loop
  double rate = 0;       // open loop: requests a second, Poisson arrivals
};

// "16 clients", "250 /s". Pure.
std::string LoadText(const Load& load);

// Latencies count from the intended time. A failed request counts as INT64_MAX; without requests
// all latencies are INT64_MAX.
struct LoadPoint {
  Load load;
  uint64_t due = 0;     // requests behind the latencies
  double offered = 0;   // due a second; with clients: ended
  double answered = 0;  // right answers a second
  int64_t p50_ns = 0;
  int64_t p95_ns = 0;
  int64_t p99_ns = 0;
  double mean_batch = 0;                   // rows; 0: unknown
  std::map<std::string, uint64_t> errors;  // by code's name; also "WRONG", "NOT_SENT"
  bool meets_slo = false;                  // false without an SLO, and without requests
  int64_t slo_latency_ns = 0;              // at the SLO's percentile
};

// `before` and `after` are the model's counts; equal ones mean none. `slo` may be null. Pure.
LoadPoint MakeLoadPoint(const Load& load, const traffic::LoadResult& result,
                        const client::ModelRuns& before, const client::ModelRuns& after,
                        const Slo* slo);

}  // namespace mpsd::bench

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

// A load: clients that each wait for their answer, or requests that come by themselves.
struct Load {
  uint32_t clients = 0;  // closed loop; 0: open loop
  double rate = 0;       // open loop: requests a second, Poisson arrivals
};

// "16 clients", "250 /s". Pure.
std::string LoadText(const Load& load);

// The figures of one run. Latencies count from the intended send time, over all requests. A failed
// request counts as INT64_MAX. Without requests all latencies are INT64_MAX.
struct LoadPoint {
  Load load;
  uint64_t due = 0;     // number of requests that the latencies are about
  double offered = 0;   // requests a second that were due; with clients: that ended
  double answered = 0;  // right answers a second
  int64_t p50_ns = 0;
  int64_t p95_ns = 0;
  int64_t p99_ns = 0;
  double mean_batch = 0;                   // rows; 0: the server does not tell
  std::map<std::string, uint64_t> errors;  // by the name of their code; also "WRONG", "NOT_SENT"
  bool meets_slo = false;                  // false without an SLO, and without requests
  int64_t slo_latency_ns = 0;              // latency at the SLO's percentile
};

// The point of a run under `load`. `before` and `after` are the model's counts around the run;
// equal counts mean that there are none. `slo` may be null. Pure.
LoadPoint MakeLoadPoint(const Load& load, const traffic::LoadResult& result,
                        const client::ModelRuns& before, const client::ModelRuns& after,
                        const Slo* slo);

}  // namespace mpsd::bench

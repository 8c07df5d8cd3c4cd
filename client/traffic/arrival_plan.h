// ArrivalPlan: when the requests of an open loop come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "client/traffic/arrivals.h"
#include "client/traffic/trace.h"

namespace mpsd::traffic {

// Poisson arrivals, unless it says otherwise. Constant during a run; all threads read it.
struct ArrivalPlan {
  double rate = 0;     // requests a second in the mean, pauses and all; of a trace: what it has
  double cv = 1;       // of the gaps, see GapArrivals
  uint32_t burst = 1;  // requests that arrive together
  int64_t on_ns = 0;   // with off_ns: so long arrivals, then none for so long, again and again
  int64_t off_ns = 0;  // 0: no pauses
  std::optional<Trace> trace{};  // instead of drawn gaps, for which all but the rate is

  // Whether requests come by themselves.
  bool IsOpen() const { return rate > 0; }
};

// The part of thread `index` of `count`. The plan outlives it. REQUIRES: plan.IsOpen(), and index <
// count.
std::unique_ptr<Arrivals> MakeArrivals(const ArrivalPlan& plan, uint32_t index, uint32_t count,
                                       uint64_t seed);

}  // namespace mpsd::traffic

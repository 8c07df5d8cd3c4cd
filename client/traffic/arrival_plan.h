// ArrivalPlan: when the requests of an open loop come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "client/traffic/arrivals.h"
#include "client/traffic/trace.h"

namespace mpsd::traffic {

// By default Poisson arrivals. Constant during a run; all threads read it.
struct ArrivalPlan {
  double rate = 0;     // mean requests a second, pauses included; with a trace: the trace's
  double cv = 1;       // coefficient of variation of the gaps, see GapArrivals
  uint32_t burst = 1;  // requests that arrive together
  int64_t on_ns = 0;   // with off_ns: arrivals for on_ns, none for off_ns, and so on
  int64_t off_ns = 0;  // 0: no pauses
  std::optional<Trace> trace{};  // replaces drawn gaps and their fields, but not the rate

  // Whether requests come by themselves.
  bool IsOpen() const { return rate > 0; }
};

// The arrivals of thread `index` of `count`. The plan outlives the arrivals. REQUIRES:
// plan.IsOpen(), and index < count.
std::unique_ptr<Arrivals> MakeArrivals(const ArrivalPlan& plan, uint32_t index, uint32_t count,
                                       uint64_t seed);

}  // namespace mpsd::traffic

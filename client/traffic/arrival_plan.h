// ArrivalPlan: when the requests of an open loop come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>

#include "client/traffic/arrivals.h"
#include "client/traffic/trace.h"

namespace mpsd::traffic {

// Times whose gaps are drawn one by one, independent of each other.
//
// Requests of many independent clients arrive as a Poisson process, whose gaps have a coefficient
// of variation of 1. With a larger one requests come in swarms: the gaps have a gamma distribution,
// most of them tiny and a few very long. With a burst of n, groups of n arrive at once, with gaps n
// times as long. The rate stays.
//
//   cv 1      │ ││    │  │││ │     │ ││
//   cv 4      ││││            │││││ │
//   burst 3   ┃            ┃   ┃              three requests at each
//
// Draws one time after another. Thread-compatible.
class GapArrivals final : public Arrivals {
 public:
  // Groups of `burst` requests, with a mean of `rate` requests a second. `cv` is the standard
  // deviation of the gaps between groups, divided by their mean. REQUIRES: all are above 0.
  GapArrivals(double rate, double cv, uint32_t burst, uint64_t seed);

  int64_t NextNs() override;

 private:
  const double shape_;     // shape of the gaps' distribution
  const double scale_ns_;  // factor for the drawn numbers
  const uint32_t burst_;
  std::mt19937_64 bits_;
  uint32_t left_in_burst_ = 0;
  double now_ns_ = 0;
};

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

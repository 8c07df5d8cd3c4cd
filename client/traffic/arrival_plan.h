// ArrivalPlan: when the requests of an open loop come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>

#include "client/traffic/arrivals.h"
#include "client/traffic/trace.h"

namespace mpsd::traffic {

// Times whose gaps are drawn independently.
//
// Many independent clients arrive as a Poisson process, whose gaps have a coefficient of variation
// of
// 1. With a larger one requests come in swarms: the gaps have a gamma distribution. With a burst of
//   n, groups of n arrive at once, with gaps n times as long. The rate stays.
//
//   cv 1      │ ││    │  │││ │     │ ││
//   cv 4      ││││            │││││ │
//   burst 3   ┃            ┃   ┃              three requests at each
//
// Thread-compatible.
class GapArrivals final : public Arrivals {
 public:
  // `rate` requests a second, in groups of `burst`. `cv` is the standard deviation of the gaps
  // between groups, divided by their mean. REQUIRES: all are above 0.
  GapArrivals(double rate, double cv, uint32_t burst, uint64_t seed);

  int64_t NextNs() override;

 private:
  const double shape_;     // shape of the gaps' distribution
  const double scale_ns_;  // factor for drawn numbers
  const uint32_t burst_;
  std::mt19937_64 bits_;
  uint32_t left_in_burst_ = 0;
  double now_ns_ = 0;
};

// Poisson arrivals by default. Constant during a run; all threads read it.
struct ArrivalPlan {
  double rate = 0;               // requests a second, pauses included; with a trace: the trace's
  double cv = 1;                 // coefficient of variation of the gaps, see GapArrivals
  uint32_t burst = 1;            // requests that arrive together
  int64_t on_ns = 0;             // with off_ns: pauses of off_ns after on_ns
  int64_t off_ns = 0;            // 0: no pauses
  std::optional<Trace> trace{};  // replaces drawn gaps and their fields, but not the rate

  // True if requests come by themselves.
  bool IsOpen() const { return rate > 0; }
};

// Thread `index` of `count` gets its part. The plan outlives the arrivals. REQUIRES: plan.IsOpen(),
// and index < count.
std::unique_ptr<Arrivals> MakeArrivals(const ArrivalPlan& plan, uint32_t index, uint32_t count,
                                       uint64_t seed);

}  // namespace mpsd::traffic

// Arrivals: the intended send times of an open-loop run. They do not depend on the server, so a
// slow server cannot slow the load down.
//
//   GapArrivals     │ ││    │  │││ │     │ ││      gaps drawn one by one: Poisson, or more uneven
//   OnOffArrivals   │││││ │         │││ │││         the same, with pauses
//   TraceArrivals   ││   │  │  │ ││││││││   │       as many in each span as a file says
//   DealtArrivals        │     │   │   │            every nth of these, for one of n threads
//
// ArrivalPlan (arrival_plan.h) chooses among them.
#pragma once

#include <cstdint>

namespace mpsd::traffic {

// Some 30 years: later than any run ends, and small enough to be added to a clock's time.
inline constexpr int64_t kFarthestNs = 1'000'000'000'000'000'000;

// Owned by the sending thread. The same seed gives the same times on every platform.
// Thread-compatible, as all its implementations.
class Arrivals {
 public:
  virtual ~Arrivals() = default;

  // The next intended send time, in nanoseconds after the start: from 0 to kFarthestNs. Never
  // decreases. There is always another one.
  virtual int64_t NextNs() = 0;
};

}  // namespace mpsd::traffic

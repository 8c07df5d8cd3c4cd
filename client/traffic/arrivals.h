// Arrivals: the intended send times of an open-loop run. They do not depend on the server, so a
// slow server cannot slow the load down.
//
//   GapArrivals     │ ││    │  │││ │     │ ││      gaps drawn one by one: Poisson, or more uneven
//   OnOffArrivals   │││││ │         │││ │││         the same, with pauses
//   TraceArrivals   ││   │  │  │ ││││││││   │       as many in each span as a file says
//   DealtArrivals        │     │   │   │            every nth of these, for one of n threads
//
// ArrivalPlan (arrival_plan.h) says which of them a run has.
#pragma once

#include <cstdint>

namespace mpsd::traffic {

// Later than any run ends, some 30 years, and early enough to be added to a clock's time.
inline constexpr int64_t kFarthestNs = 1'000'000'000'000'000'000;

// Owned by the thread that sends. The same seed gives the same times on every platform.
// Thread-compatible, as all that are made of it.
class Arrivals {
 public:
  virtual ~Arrivals() = default;

  // The next intended send time, in nanoseconds after the start: from 0 to kFarthestNs. Never
  // decreases. There is always another one.
  virtual int64_t NextNs() = 0;
};

}  // namespace mpsd::traffic

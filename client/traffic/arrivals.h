// Arrivals: the intended send times of an open-loop run, which a slow server cannot slow down.
//
//   GapArrivals     │ ││    │  │││ │     │ ││      gaps drawn one by one: Poisson, or more uneven
//   OnOffArrivals   │││││ │         │││ │││         the same, with pauses
//   TraceArrivals   ││   │  │  │ ││││││││   │       as many in each span as a file says
//   DealtArrivals        │     │   │   │            every nth of these, for one of n threads
#pragma once

#include <cstdint>

namespace mpsd::traffic {

// Some 30 years: small enough to be added to a clock's time.
inline constexpr int64_t kFarthestNs = 1'000'000'000'000'000'000;

// Owned by the sending thread. A seed gives the same times on every platform. Thread-compatible, as
// all its implementations.
class Arrivals {
 public:
  virtual ~Arrivals() = default;

  // A time is nanoseconds after the start, from 0 to kFarthestNs. Never decreases, never ends.
  virtual int64_t NextNs() = 0;
};

}  // namespace mpsd::traffic

// TraceArrivals: as many times in each bin as the trace has calls there, at random places in the
// bin. After the last bin the first one begins anew.
//
//   calls    3     0     1     │ 3     0     1
//   times    │ ││        │     │  ││ │    │
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "client/traffic/arrivals.h"
#include "client/traffic/trace.h"

namespace mpsd::traffic {

// Keeps the times of one bin. The trace outlives it. Thread-compatible.
class TraceArrivals final : public Arrivals {
 public:
  // REQUIRES: the trace has calls.
  TraceArrivals(const Trace& trace, uint64_t seed);

  int64_t NextNs() override;

 private:
  void DrawNextBin();

  const Trace& trace_;
  std::mt19937_64 bits_;
  uint64_t next_bin_ = 0;       // counts on over all repetitions
  std::vector<int64_t> times_;  // sorted times of the last bin drawn
  size_t next_time_ = 0;
};

}  // namespace mpsd::traffic

// clairvoyant_bound: the most that any schedule could answer.
#pragma once

#include <cstdint>
#include <vector>

#include "load_tests/simulator/simulated_pool.h"

namespace mpsd {

// The most requests that one lane can answer in time, with all arrivals known beforehand. Requests
// have one row and the same deadline. `curve` has no noise; a batch may take a larger batch's time
// if that is less. Exact. Takes a second for 24,000 requests and batches of 64. REQUIRES: the
// arrivals are sorted.
uint64_t MostAnsweredInTime(const std::vector<int64_t>& arrivals_ns, int64_t deadline_ns,
                            uint32_t max_batch_rows, const TrueCurve& curve);

// REQUIRES: `load` has a rate.
std::vector<int64_t> PoissonArrivals(const SimulatedLoad& load, uint32_t seed);

}  // namespace mpsd

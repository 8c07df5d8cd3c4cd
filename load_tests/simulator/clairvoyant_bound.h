// The most that any schedule could answer, to compare simulated and real schedules with.
#pragma once

#include <cstdint>
#include <vector>

#include "load_tests/simulator/simulated_pool.h"

namespace mpsd {

// The most requests that one lane can answer in time if its schedule knows all arrivals beforehand.
// Requests have one row and the same deadline. A batch takes the time of `curve`, without noise, or
// the time of a larger batch if that is less. Exact: some schedule reaches it. Takes a second for
// 24,000 requests and batches of 64. REQUIRES: the arrivals are sorted.
uint64_t MostAnsweredInTime(const std::vector<int64_t>& arrivals_ns, int64_t deadline_ns,
                            uint32_t max_batch_rows, const TrueCurve& curve);

// Poisson arrivals of `load`. REQUIRES: a rate.
std::vector<int64_t> PoissonArrivals(const SimulatedLoad& load, uint32_t seed);

}  // namespace mpsd

// The most that any schedule could do: what a simulated or real one is held to.
#pragma once

#include <cstdint>
#include <vector>

#include "load_tests/simulator/simulated_pool.h"

namespace mpsd {

// How many requests one lane can answer in time, at most, whose schedule knows all arrivals
// beforehand. Requests have one row and the same deadline, and a batch takes what `curve` says,
// without noise; or what a larger one takes, if that is less. Exact: one of all schedules reaches
// it. 24,000 requests and batches of 64 take a second. REQUIRES: the arrivals are sorted.
uint64_t MostAnsweredInTime(const std::vector<int64_t>& arrivals_ns, int64_t deadline_ns,
                            uint32_t max_batch_rows, const TrueCurve& curve);

// Poisson arrivals of `load`. REQUIRES: a rate.
std::vector<int64_t> PoissonArrivals(const SimulatedLoad& load, uint32_t seed);

}  // namespace mpsd

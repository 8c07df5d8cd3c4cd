// SimulateOptions: the command line of mpsd-simulate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "load_tests/simulator/simulated_pool.h"

namespace mpsd::load {

// All that the command line says. Constant once parsed.
struct SimulateOptions {
  std::map<uint32_t, double> batch_ns;  // what batches of some sizes take; 1 is among the sizes
  SimulatedLoad load;
  SimulatedPool::Options pool;
  int64_t learning_ns = 0;  // of the same load before, which is not counted
  int64_t max_delay_ns = 0;
  bool is_clairvoyant = false;  // the bound of all schedules, instead of this one
};

// Fills `options`. Returns an exit status when the process should end at once: 0 when help was
// asked for, another one when a flag is wrong; stderr says which. Called once, on main's thread.
std::optional<int> ParseCommandLine(int argc, char** argv, SimulateOptions* options);

// What a batch of so many rows takes, between two sizes of the command line linear, and beyond the
// largest one in proportion to its rows.
TrueCurve CurveOf(const SimulateOptions& options);

}  // namespace mpsd::load

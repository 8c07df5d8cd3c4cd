// SimulateOptions: the command line of mpsd-simulate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "load_tests/simulator/simulated_pool.h"

namespace mpsd::load {

struct SimulateOptions {
  std::map<uint32_t, double> batch_ns;  // has size 1
  SimulatedLoad load;
  SimulatedPool::Options pool;
  int64_t learning_ns = 0;  // the uncounted load before
  int64_t max_delay_ns = 0;
  bool is_clairvoyant = false;  // print the bound of all schedules instead
};

// Returns an exit status if the process should end at once: 0 after help, another one after a wrong
// flag. Called once, on main's thread.
std::optional<int> ParseCommandLine(int argc, char** argv, SimulateOptions* options);

// Linear between two sizes of the command line; beyond the largest in proportion to the rows.
TrueCurve CurveOf(const SimulateOptions& options);

}  // namespace mpsd::load

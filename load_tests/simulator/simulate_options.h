// SimulateOptions: the command line of mpsd-simulate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "load_tests/simulator/simulated_pool.h"

namespace mpsd::load {

// The parsed command line. Constant once parsed.
struct SimulateOptions {
  std::map<uint32_t, double> batch_ns;  // by batch size: its time; has size 1
  SimulatedLoad load;
  SimulatedPool::Options pool;
  int64_t learning_ns = 0;  // the same load runs so long before, uncounted
  int64_t max_delay_ns = 0;
  bool is_clairvoyant = false;  // print the bound of all schedules instead
};

// Fills `options`. Returns an exit status if the process should end at once: 0 if help was asked
// for, another one if a flag is wrong; stderr names the flag. Called once, on main's thread.
std::optional<int> ParseCommandLine(int argc, char** argv, SimulateOptions* options);

// The time of a batch by its rows: linear between two sizes of the command line, and beyond the
// largest one in proportion to the rows.
TrueCurve CurveOf(const SimulateOptions& options);

}  // namespace mpsd::load

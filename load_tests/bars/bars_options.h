// BarsOptions: the command line of mpsd-lane-bars.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "load_tests/bars/bar_task.h"

namespace mpsd::load {

struct BarsOptions {
  std::string device = "cpu";
  // some of "rounds", "soak", "threads", "processes"
  std::set<std::string> parts;
  std::vector<BarOperator> operators;                 // for the rounds and the soak
  std::vector<std::pair<uint32_t, uint64_t>> rounds;  // lanes × rounds
  uint64_t soak_operations = 0;
  uint32_t soak_lanes = 8;
  std::set<uint32_t> counts;  // lanes and processes whose rates are compared
  int64_t scaling_ns = 0;     // for each rate
  int64_t limit_ns = 0;       // for the rounds, and for the soak
  uint64_t seed = 1;
  uint64_t faults_max = 10;
  std::string report;
  std::string run;  // the bar that this process runs for its parent; empty: all
};

// Returns an exit status if the process should end at once: 0 after help, another one after a wrong
// flag. Called once, on main's thread.
std::optional<int> ParseCommandLine(int argc, char** argv, BarsOptions* options);

}  // namespace mpsd::load

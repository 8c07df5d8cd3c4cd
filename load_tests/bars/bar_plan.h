// PlanBars: which bars a command line asks for. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load_tests/bars/bar_task.h"
#include "load_tests/bars/bars_options.h"
#include "load_tests/bars/lane_bar.h"

namespace mpsd::load {

// A bar has its own processes, so that a crash or a hang fails it alone, and code is compiled anew.
struct PlannedBar {
  std::string name;    // "31x100", "soak", "linear, 4 threads"
  std::string series;  // rates to compare, "linear, threads"; empty: none
  uint32_t processes = 1;
  std::vector<BarTask> tasks;
  LaneBar lanes;  // the same in each process

  uint32_t count() const { return processes * lanes.lanes; }
};

// In the order in which they run. Bars with the same name are equal.
std::vector<PlannedBar> PlanBars(const BarsOptions& options);

}  // namespace mpsd::load

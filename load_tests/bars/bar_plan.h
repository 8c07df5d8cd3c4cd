// PlanBars: which bars a command line asks for. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load_tests/bars/bar_task.h"
#include "load_tests/bars/bars_options.h"
#include "load_tests/bars/lane_bar.h"

namespace mpsd::load {

// One bar, which its own processes run, so that a crash or a hang is a failure of this bar alone,
// and code is compiled anew. The lanes of a bar that scales run until their time is over.
struct PlannedBar {
  std::string name;    // "31x100", "soak", "linear, 4 threads"
  std::string series;  // of the rates that are compared, "linear, threads"; empty: of none
  uint32_t processes = 1;
  std::vector<BarTask> tasks;
  LaneBar lanes;  // of each process

  uint32_t count() const { return processes * lanes.lanes; }
};

// In the order in which they run. Bars of one name are equal.
std::vector<PlannedBar> PlanBars(const BarsOptions& options);

}  // namespace mpsd::load

// RunBarAsChild: a bar in this process, for the process that started it.
#pragma once

#include "load_tests/bars/bar_plan.h"

namespace mpsd::load {

// Runs the lanes of one of the bar's processes, and tells the process at the other end of
// descriptor 3 how it goes (bar_outcome.h). Ends this process, and ends it early with its parent.
// Called on the main thread, which is the first to touch the device.
[[noreturn]] void RunBarAsChild(const BarsOptions& options, const PlannedBar& bar);

}  // namespace mpsd::load

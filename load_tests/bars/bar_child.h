// RunBarAsChild: a bar in this process, for the process that started it.
#pragma once

#include "load_tests/bars/bar_plan.h"

namespace mpsd::load {

// Reports through descriptor 3 (bar_outcome.h). Ends this process, early if the parent ends. Called
// on the main thread, which must be the first to touch the device.
[[noreturn]] void RunBarAsChild(const BarsOptions& options, const PlannedBar& bar);

}  // namespace mpsd::load

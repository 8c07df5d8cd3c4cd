// RunLoad: one run of the load generator, from connecting to the merged counts.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "load_tests/generator/load_plan.h"
#include "load_tests/generator/request_set.h"

namespace mpsd::load {

// Blocks until the run is over: at most the plan's times for connecting, warm-up, duration and
// draining together. UNAVAILABLE when it cannot connect to the target. Failed calls are counted in
// the result; they do not make the status an error.
absl::StatusOr<LoadResult> RunLoad(const LoadPlan& plan,
                                   const std::vector<PreparedRequest>& requests);

}  // namespace mpsd::load

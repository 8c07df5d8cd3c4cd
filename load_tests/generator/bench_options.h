// BenchOptions: the command line of mpsd-bench.
#pragma once

#include <optional>

#include "load_tests/generator/load_plan.h"
#include "load_tests/generator/request_set.h"

namespace mpsd::load {

struct BenchOptions {
  LoadPlan plan;
  RequestPlan requests;
  bool json = false;
  bool allow_errors = false;  // exit 0 even if calls failed
};

// Fills `options`. Returns an exit status when the process should end at once: help was asked for,
// or a flag is wrong and stderr says which.
std::optional<int> ParseCommandLine(int argc, char** argv, BenchOptions* options);

}  // namespace mpsd::load

// The command line of mpsd-bench.
#pragma once

#include <optional>

#include "load_tests/load_plan.h"
#include "load_tests/request_set.h"

namespace mpsd::load {

struct BenchOptions {
  LoadPlan plan;
  RequestPlan requests;
  bool json = false;
  bool allow_errors = false;  // exit 0 even when calls failed
};

// Fills `options`. Returns the exit status when the process should end at once (help was asked for,
// or a flag is wrong, which has then been said on stderr).
std::optional<int> ParseCommandLine(int argc, char** argv, BenchOptions* options);

}  // namespace mpsd::load

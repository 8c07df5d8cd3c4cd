// bench_report: the report of a run, for people and for programs.
#pragma once

#include <string>

#include "load_tests/generator/load_plan.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd::load {

// Latencies are in microseconds, rates are per second; CPU is in microseconds for each call that
// ended in the window.
nlohmann::json ReportJson(const LoadPlan& plan, const LoadResult& result);

std::string ReportText(const LoadPlan& plan, const LoadResult& result);

// Whether every call was answered, and every answer was right.
bool AllRight(const LoadResult& result);

}  // namespace mpsd::load

// The report of a run, for people and for programs.
#pragma once

#include <string>

#include "load_tests/load_plan.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd::load {

// Latencies in microseconds, rates a second, CPU in microseconds a call that ended in the window.
nlohmann::json ReportJson(const LoadPlan& plan, const LoadResult& result);

std::string ReportText(const LoadPlan& plan, const LoadResult& result);

// Whether every call was answered, and rightly.
bool AllRight(const LoadResult& result);

}  // namespace mpsd::load

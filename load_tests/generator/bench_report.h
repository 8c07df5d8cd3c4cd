// bench_report: the report of a run, for people and for programs.
//
// Scripts in load_tests/bench read the JSON, so its keys stay. The client is the first of the
// processes. Only an open loop has offered, not_sent and lateness_us.
#pragma once

#include <string>

#include "client/traffic/load_run.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd::load {

// Latencies are in microseconds, rates per second. CPU microseconds and context switches are per
// call that ended in the window. Pure.
nlohmann::json ReportJson(const traffic::LoadPlan& plan, const traffic::LoadResult& result);

std::string ReportText(const traffic::LoadPlan& plan, const traffic::LoadResult& result);

}  // namespace mpsd::load

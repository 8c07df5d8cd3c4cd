// bench_report: the report of a run, for people and for programs.
//
// Both say the same; the text is made from the JSON. load_tests/bench reads the JSON, so its keys
// stay: throughput, goodput, latency_us with p50, p90, p99, p99_9, max and mean, wrong, errors by
// the name of their code, processes (the client first); of an open loop also offered, not_sent and
// lateness_us.
#pragma once

#include <string>

#include "client/traffic/load_run.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd::load {

// Latencies are in microseconds, rates are per second; CPU is in microseconds for each call that
// ended in the window, and so are context switches a call. Pure.
nlohmann::json ReportJson(const traffic::LoadPlan& plan, const traffic::LoadResult& result);

// The same in a few lines. Pure.
std::string ReportText(const traffic::LoadPlan& plan, const traffic::LoadResult& result);

}  // namespace mpsd::load

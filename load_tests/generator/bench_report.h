// bench_report: the report of a run, for people and for programs.
//
// Both say the same; the text is made from the JSON. load_tests/bench reads the JSON, so its keys
// stay: throughput, goodput, latency_us with p50, p90, p99, p99_9, max and mean, wrong, errors by
// the name of their code, processes (the client first); of an open loop also offered, not_sent and
// lateness_us.
#pragma once

#include <string>

#include "load_tests/generator/load_run.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd::load {

// Latencies are in microseconds, rates are per second; CPU is in microseconds for each call that
// ended in the window, and so are context switches a call. Pure.
nlohmann::json ReportJson(const LoadPlan& plan, const LoadResult& result);

// The same in a few lines. Pure.
std::string ReportText(const LoadPlan& plan, const LoadResult& result);

// Whether every call was sent, was answered without an error, and every answer was right. If not,
// the figures must not be believed, and mpsd-bench exits with 1. Pure.
bool AllRight(const LoadResult& result);

}  // namespace mpsd::load

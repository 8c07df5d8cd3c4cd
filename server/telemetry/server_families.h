// The metric families of the daemon: its own counters, access, its process and its limits.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "prometheus/metric_family.h"
#include "server/telemetry/access_metrics.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/process_stats.h"

namespace mpsd {

// All functions are thread-safe: they only read the counters.
std::vector<prometheus::MetricFamily> ServerFamilies(const ServerMetrics& server);
std::vector<prometheus::MetricFamily> AccessFamilies(const AccessMetrics& access);

// `start_time_seconds` is since the Unix epoch.
std::vector<prometheus::MetricFamily> ProcessFamilies(const ProcessStats& process,
                                                      double start_time_seconds);

// mpsd_limit: one gauge with a series for each bound.
prometheus::MetricFamily LimitsFamily(absl::Span<const std::pair<std::string, double>> limits);

}  // namespace mpsd

// From counters to Prometheus' metric families. Pure: what is read is what is given.
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

// One family a metric, with one series (or one a code or stage) for each of `models`. Series of
// codes that never occurred are left out; OK is always there.
std::vector<prometheus::MetricFamily> ModelFamilies(absl::Span<const ModelMetrics* const> models);

std::vector<prometheus::MetricFamily> ServerFamilies(const ServerMetrics& server);

std::vector<prometheus::MetricFamily> AccessFamilies(const AccessMetrics& access);

std::vector<prometheus::MetricFamily> ProcessFamilies(const ProcessStats& process,
                                                      double start_time_seconds);

// One gauge, a series a bound.
prometheus::MetricFamily LimitsFamily(absl::Span<const std::pair<std::string, double>> limits);

// A gauge that is always 1; its labels are what it says.
prometheus::MetricFamily InfoFamily(const char* name, const char* help,
                                    std::vector<prometheus::ClientMetric::Label> labels);

}  // namespace mpsd

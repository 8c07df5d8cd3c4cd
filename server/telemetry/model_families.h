// The metric families of models.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "prometheus/metric_family.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// The families of all models: each family has one series for each of `models`, or one for each
// status code, exit or stage. A status code that never occurred has no series; OK always has one.
// No models, no families. Thread-safe: only reads the counters.
std::vector<prometheus::MetricFamily> ModelFamilies(absl::Span<const ModelMetrics* const> models);

}  // namespace mpsd

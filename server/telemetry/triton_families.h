// The metrics that Triton's dashboards and autoscalers read, made from our counters.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "prometheus/metric_family.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// The families nv_inference_*: each has one series for each of `models`. Thread-safe: only reads
// the counters.
std::vector<prometheus::MetricFamily> TritonFamilies(absl::Span<const ModelMetrics* const> models);

}  // namespace mpsd

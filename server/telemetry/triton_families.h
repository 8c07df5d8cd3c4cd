// The metrics that Triton's dashboards and autoscalers read, from our own counts.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "prometheus/metric_family.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// nv_inference_*, each with a series a model. Thread-safe.
std::vector<prometheus::MetricFamily> TritonFamilies(absl::Span<const ModelMetrics* const> models);

}  // namespace mpsd

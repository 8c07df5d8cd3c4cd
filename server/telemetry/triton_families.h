// TritonFamilies: the metrics that Triton's dashboards and autoscalers read, made from our
// counters.
//
// With "compat": "triton" the metrics page shows them beside our own families, so that what was
// built around Triton goes on. Nothing is counted twice for it: each value is read from what
// ModelMetrics has anyway.
//
//   nv_inference_request_success              requests that were answered
//   nv_inference_request_failure              requests that were admitted and failed
//   nv_inference_count                        rows that were answered
//   nv_inference_exec_count                   batches that ran
//   nv_inference_request_duration_us          arrival to answer, summed over answered requests
//   nv_inference_queue_duration_us            arrival to batch
//   nv_inference_compute_input_duration_us    batch to lane
//   nv_inference_compute_infer_duration_us    in the lane
//   nv_inference_compute_output_duration_us   lane to answer
//   nv_inference_pending_request_count        requests in the queue: the one gauge
//
// Requests that are refused before they are admitted are in none of them. Metrics of Triton's that
// have no counterpart here, such as those of its cache, are left out instead of shown as 0.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "prometheus/metric_family.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Each family has one series for each of `models`, with the labels "model" and "version". No
// models, no families. Takes the mutex of each model's InferenceStatistics for a copy, so the
// counters of one model are of one moment, and a batch that ends meanwhile waits for that copy at
// most. Thread-safe.
std::vector<prometheus::MetricFamily> TritonFamilies(absl::Span<const ModelMetrics* const> models);

}  // namespace mpsd

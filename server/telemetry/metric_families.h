// MetricFamilies: the families on /metrics, made from the current counters.
//
// The names are a contract with operators: dashboards, alerts and docs use them, and a test
// compares deploy/ with this file's .cc.
//
//   ModelMetrics  ─▶ ModelFamilies    mpsd_…{model, version}
//                 └▶ TritonFamilies   nv_inference_…{model, version}
//   ServerMetrics ─▶ ServerFamilies   mpsd_…
//   ModelState    ─▶ StatesFamily     mpsd_model_state{model, version, state}
//   AccessMetrics ─▶ AccessFamilies   mpsd_…
//   GpuSample     ─▶ GpuFamilies      mpsd_gpu_…{gpu, uuid}
//   PullSample    ─▶ PullFamilies     mpsd_pull_…{source}
//   ProcessStats  ─▶ ProcessFamilies  process_…, as Prometheus' own clients name them
//   bounds        ─▶ LimitsFamily     mpsd_limit{limit}
//   build         ─▶ BuildFamily      mpsd_build_info{version, …}
//
// A model that serves nothing has few series, so that a host may have hundreds of models:
//
//   counters and gauges of a model   always, from 0: a rate sees the first event only after a 0
//   worker exits by reason           always, from 0: a single one matters
//   sequences by their end           all of them, once the model has had a sequence
//   requests by code                 OK always; another code once it has occurred
//   histograms                       once something was observed: they are three quarters of a
//                                    model's lines, and a quantile of nothing is nothing
//
// A histogram's rate misses observations before the first scrape that shows it; take rates of
// requests and batches from the counters.
//
// The scraping thread calls all functions; they are thread-safe. Two counters of one scrape may be
// a moment apart, but a histogram's count is always the sum of its buckets.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "prometheus/metric_family.h"
#include "server/telemetry/gpu_watch.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/model_state.h"
#include "server/telemetry/process_stats.h"
#include "server/telemetry/pull_sample.h"
#include "server/telemetry/resource_sample.h"

namespace mpsd {

// Without models there are no families. No two of `models` have the same name and version.
std::vector<prometheus::MetricFamily> ModelFamilies(absl::Span<const ModelMetrics* const> models);

// mpsd_saturation, mpsd_queued_requests and mpsd_running_requests, which have no labels and are
// always there. The saturation and the load of each model. mpsd_replicas_needed of each model with
// an SLO, once known.
std::vector<prometheus::MetricFamily> LoadFamilies(absl::Span<const ModelMetrics* const> models);

// mpsd_model_state: for each version and state; 1 for the current one.
prometheus::MetricFamily StatesFamily(absl::Span<const ModelStateSample> samples);

// mpsd_model_precision: 1 for each loaded version, labelled with its precision.
prometheus::MetricFamily PrecisionFamily(absl::Span<const ModelStateSample> samples);

// mpsd_batch_token_budget: for each version with such a budget.
prometheus::MetricFamily TokenBudgetsFamily(absl::Span<const ModelStateSample> samples);

// mpsd_runtime_info: 1 for each worker that has loaded its model, labelled with its device, what
// runs the model there and whether the gpu's driver is guarded.
prometheus::MetricFamily RuntimesFamily(absl::Span<const ModelStateSample> samples);

// mpsd_worker_slowness: for each worker that has loaded its model.
prometheus::MetricFamily SlownessFamily(absl::Span<const ModelStateSample> samples);

// mpsd_worker_resident_memory_bytes: for each worker with a process that has loaded its model.
// Files that workers map together count for each of them.
prometheus::MetricFamily WorkerMemoryFamily(absl::Span<const ModelStateSample> samples);

// mpsd_gpu_…, as far as the driver says so, and mpsd_worker_device_memory_bytes: each worker's
// share. None where no gpu is known.
std::vector<prometheus::MetricFamily> GpuFamilies(absl::Span<const GpuSample> gpus,
                                                  absl::Span<const ModelStateSample> samples);

// mpsd_resource_…: for each shared resource, on each device or on all (an empty label). None if no
// model needs any.
std::vector<prometheus::MetricFamily> ResourceFamilies(absl::Span<const ResourceSample> samples);

// mpsd_pull_…: for each model from a hub.
std::vector<prometheus::MetricFamily> PullFamilies(absl::Span<const PullSample> samples);

// Metrics that Triton's dashboards and autoscalers read; the page has them with "compat": "triton".
// Figures of one model are of one moment. They exclude requests that were refused before admission.
// Triton's metrics without a counterpart here are left out.
std::vector<prometheus::MetricFamily> TritonFamilies(absl::Span<const ModelMetrics* const> models);

std::vector<prometheus::MetricFamily> ServerFamilies(const ServerMetrics& server);

std::vector<prometheus::MetricFamily> AccessFamilies(const AccessMetrics& access);

// `start_time_seconds` is since the Unix epoch.
std::vector<prometheus::MetricFamily> ProcessFamilies(const ProcessStats& process,
                                                      double start_time_seconds);

// mpsd_limit: an alert compares a gauge with its bound instead of a fixed number.
prometheus::MetricFamily LimitsFamily(absl::Span<const std::pair<std::string, double>> limits);

// mpsd_build_info: always 1. Its labels are pairs of name and value.
prometheus::MetricFamily BuildFamily(absl::Span<const std::pair<std::string, std::string>> build);

}  // namespace mpsd

// MetricFamilies: the families on /metrics, made from the current counters.
//
// A family has a name, a help text, a type, and series that differ in their labels. The names are a
// contract with operators: dashboards, alerts and docs use them, and a test compares deploy/ with
// this file's .cc.
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
// A counter or gauge that is one atomic is one row of a table in the .cc: its name, its help and
// its member. An unsigned member is a counter, a signed one a gauge.
//
// MetricsPage calls all functions on the scraping thread; they are thread-safe. They load atomics,
// and TritonFamilies() takes a mutex for a copy: the request's path never waits longer for a
// scrape. Two counters of one scrape may be a moment apart, but a histogram's count is always the
// sum of its buckets.
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

// The families of all models. Each has a series for each of `models`, or for each of its status
// codes, exits or stages, less those that the rule above leaves out. Without models there are no
// families. No two of `models` have the same name and version.
std::vector<prometheus::MetricFamily> ModelFamilies(absl::Span<const ModelMetrics* const> models);

// For those who add and remove hosts: mpsd_saturation, mpsd_queued_requests and
// mpsd_running_requests, which have no labels and are always there. The saturation and the load of
// each model. mpsd_replicas_needed of each model with an SLO, once known.
std::vector<prometheus::MetricFamily> LoadFamilies(absl::Span<const ModelMetrics* const> models);

// mpsd_model_state: a gauge for each version and state, 1 for the current one.
prometheus::MetricFamily StatesFamily(absl::Span<const ModelStateSample> samples);

// mpsd_model_precision: for each loaded version a gauge of 1, labelled with its precision.
prometheus::MetricFamily PrecisionFamily(absl::Span<const ModelStateSample> samples);

// mpsd_batch_token_budget: a gauge for each version with such a budget.
prometheus::MetricFamily TokenBudgetsFamily(absl::Span<const ModelStateSample> samples);

// mpsd_runtime_info: a gauge of 1 for each worker that has loaded its model, labelled with its
// device, what runs the model there and whether the gpu's driver is guarded.
prometheus::MetricFamily RuntimesFamily(absl::Span<const ModelStateSample> samples);

// mpsd_worker_slowness: a gauge for each worker that has loaded its model.
prometheus::MetricFamily SlownessFamily(absl::Span<const ModelStateSample> samples);

// mpsd_worker_resident_memory_bytes: a gauge for each worker with a process that has loaded its
// model. Files that workers map together count for each of them.
prometheus::MetricFamily WorkerMemoryFamily(absl::Span<const ModelStateSample> samples);

// mpsd_gpu_…: how busy each gpu is, and its memory, as far as its driver says so.
// mpsd_worker_device_memory_bytes: each worker's share of it. None where no gpu is known.
std::vector<prometheus::MetricFamily> GpuFamilies(absl::Span<const GpuSample> gpus,
                                                  absl::Span<const ModelStateSample> samples);

// mpsd_resource_…: for each shared resource, on each device or on all (an empty label), the total,
// the amount held, and the number waiting. None if no model needs any.
std::vector<prometheus::MetricFamily> ResourceFamilies(absl::Span<const ResourceSample> samples);

// mpsd_pull_…: how far each model is that comes from a hub. None if no model does.
std::vector<prometheus::MetricFamily> PullFamilies(absl::Span<const PullSample> samples);

// Metrics that Triton's dashboards and autoscalers read; the page has them with "compat": "triton".
// Nothing is counted twice for them: all except the gauge come from InferenceStatistics, and those
// of one model are of one moment. They exclude requests that were refused before admission.
// Triton's metrics without a counterpart here are left out instead of shown as 0.
std::vector<prometheus::MetricFamily> TritonFamilies(absl::Span<const ModelMetrics* const> models);

// The daemon's families: requests refused before a model was found, and gauges of connections,
// regions and the last reload.
std::vector<prometheus::MetricFamily> ServerFamilies(const ServerMetrics& server);

// Calls refused for their credentials, and the server's certificate.
std::vector<prometheus::MetricFamily> AccessFamilies(const AccessMetrics& access);

// The daemon's own process. `start_time_seconds` is since the Unix epoch.
std::vector<prometheus::MetricFamily> ProcessFamilies(const ProcessStats& process,
                                                      double start_time_seconds);

// mpsd_limit: one gauge with a series for each bound, so that an alert compares a gauge with its
// bound instead of a fixed number.
prometheus::MetricFamily LimitsFamily(absl::Span<const std::pair<std::string, double>> limits);

// mpsd_build_info: a gauge that is always 1. Its labels, pairs of name and value, carry the
// information.
prometheus::MetricFamily BuildFamily(absl::Span<const std::pair<std::string, std::string>> build);

}  // namespace mpsd

// MetricFamilies: the families that /metrics shows, each made from the counters as they are now.
//
// A family is a name, a help text, a type and its series; the series of one family differ in their
// labels. The names are a contract with operators: dashboards, alerts and docs name them, and a
// test holds deploy/ to the names in this file's .cc.
//
//   ModelMetrics  ─▶ ModelFamilies    mpsd_…{model, version}
//                 └▶ TritonFamilies   nv_inference_…{model, version}
//   ServerMetrics ─▶ ServerFamilies   mpsd_…
//   ModelState    ─▶ StatesFamily     mpsd_model_state{model, version, state}
//   AccessMetrics ─▶ AccessFamilies   mpsd_…
//   ProcessStats  ─▶ ProcessFamilies  process_…, as Prometheus' own clients name them
//   bounds        ─▶ LimitsFamily     mpsd_limit{limit}
//   build         ─▶ BuildFamily      mpsd_build_info{version, …}
//
// The series of a model that serves nothing are few, so that a host may have hundreds of models:
//
//   counters and gauges of a model   always, from 0: a rate sees the first event only after a 0
//   worker exits by reason           always, from 0: a single one matters
//   sequences by their end           all of them, once the model has had a sequence
//   requests by code                 OK always; another code once it has occurred
//   histograms                       once something was observed: they are three quarters of a
//                                    model's lines, and a quantile of nothing is nothing
//
// A rate over a histogram misses what was observed before the first scrape that shows it; rates of
// requests and batches are taken of the counters.
//
// A counter or gauge that is one atomic is one row of a table in the .cc: its name, its help and
// its member. An unsigned member is a counter, a signed one a gauge.
//
// All functions are called by MetricsPage, on the thread that scrapes, and are thread-safe. They
// load atomics, and TritonFamilies() takes a mutex for the time of a copy: the request's path never
// waits for a scrape longer than that. Two counters of one scrape may be a moment apart, but the
// count of a histogram is always the sum of its buckets.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "prometheus/metric_family.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/model_state.h"
#include "server/telemetry/process_stats.h"
#include "server/telemetry/resource_sample.h"

namespace mpsd {

// The families of all models: each family has one series for each of `models`, or one for each
// status code, exit or stage of it, less those that the rule above leaves out. No models, no
// families. No two of `models` have the same name and version.
std::vector<prometheus::MetricFamily> ModelFamilies(absl::Span<const ModelMetrics* const> models);

// mpsd_model_state: for each version a gauge for each state, 1 for the state that it is in.
prometheus::MetricFamily StatesFamily(absl::Span<const ModelStateSample> samples);

// mpsd_model_precision: for each version that was loaded a gauge that is 1, with the precision that
// the version computes in.
prometheus::MetricFamily PrecisionFamily(absl::Span<const ModelStateSample> samples);

// mpsd_batch_token_budget: for each version with such a budget a gauge of it.
prometheus::MetricFamily TokenBudgetsFamily(absl::Span<const ModelStateSample> samples);

// mpsd_runtime_info: for each worker that has loaded its model a gauge that is 1, with its
// device, what runs the model there and whether the gpu's driver is guarded.
prometheus::MetricFamily RuntimesFamily(absl::Span<const ModelStateSample> samples);

// mpsd_worker_slowness: for each worker that has loaded its model a gauge of it.
prometheus::MetricFamily SlownessFamily(absl::Span<const ModelStateSample> samples);

// mpsd_resource_…: for each resource that models share, on each device, or on all (an empty label),
// how much there is, is held, and how many wait. None where no model needs any.
std::vector<prometheus::MetricFamily> ResourceFamilies(absl::Span<const ResourceSample> samples);

// The metrics that Triton's dashboards and autoscalers read, so that tools built around Triton go
// on; the page has them with "compat": "triton". Nothing is counted twice for them: all but the
// gauge come from InferenceStatistics, and those of one model are of one moment. Requests that were
// refused before they were admitted are in none of them. Metrics of Triton's that have no
// counterpart here are left out instead of shown as 0.
std::vector<prometheus::MetricFamily> TritonFamilies(absl::Span<const ModelMetrics* const> models);

// The families of the daemon: requests refused before a model was found, and the gauges of its
// connections, regions and last reload.
std::vector<prometheus::MetricFamily> ServerFamilies(const ServerMetrics& server);

// The calls that were refused for their credentials, and the server's certificate.
std::vector<prometheus::MetricFamily> AccessFamilies(const AccessMetrics& access);

// The daemon's own process. `start_time_seconds` is since the Unix epoch.
std::vector<prometheus::MetricFamily> ProcessFamilies(const ProcessStats& process,
                                                      double start_time_seconds);

// mpsd_limit: one gauge with a series for each bound, so that an alert can compare a gauge with its
// bound instead of a number of its own.
prometheus::MetricFamily LimitsFamily(absl::Span<const std::pair<std::string, double>> limits);

// mpsd_build_info: a gauge that is always 1. Its labels, pairs of name and value, are the
// information.
prometheus::MetricFamily BuildFamily(absl::Span<const std::pair<std::string, std::string>> build);

}  // namespace mpsd

#include "server/telemetry/metric_families.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Totals = InferenceStatistics::Totals;
using MetricLabels = std::vector<ClientMetric::Label>;

// A family whose value is one member of a struct of counters. An unsigned member makes a counter, a
// signed one a gauge.
template <typename Metrics, typename Number>
struct MetricRow {
  const char* name;
  const char* help;
  std::atomic<Number> Metrics::*value;

  static constexpr MetricType kType =
      std::is_unsigned_v<Number> ? MetricType::Counter : MetricType::Gauge;
};

constexpr MetricRow<ModelMetrics, uint64_t> kModelCounters[] = {
    {"mpsd_batches_total", "Batches that ended.", &ModelMetrics::batches},
    {"mpsd_gathered_batches_total", "Batches of several row runs, which a lane had to gather.",
     &ModelMetrics::gathered_batches},
    {"mpsd_skipped_batches_total", "Batches that no lane ran, since no live row was left.",
     &ModelMetrics::skipped_batches},
    {"mpsd_dispatched_again_total", "Requests dispatched again, since their worker died.",
     &ModelMetrics::dispatched_again},
    {"mpsd_refused_in_advance_total",
     "Requests refused on arrival, since no lane would have been free in time.",
     &ModelMetrics::refused_in_advance},
    {"mpsd_given_up_requests_total",
     "Requests ended before their deadline, since others could still be in time without them.",
     &ModelMetrics::given_up_requests},
    {"mpsd_delayed_requests_total",
     "Requests that had waited for their queue's timeout, and let others go first from then on.",
     &ModelMetrics::delayed_requests},
    {"mpsd_resource_waits_total",
     "Times that a batch had a lane, and waited for resources that other models hold.",
     &ModelMetrics::resource_waits},
    {"mpsd_quarantined_requests_total",
     "Requests ended unseen by a worker, since one that held the same had crashed its worker.",
     &ModelMetrics::quarantined_requests},
    {"mpsd_timeout_wakeups_total", "Wake-ups that came by time-out. Each of them is a bug.",
     &ModelMetrics::timeout_wakeups},
    {"mpsd_keep_warm_runs_total", "Runs of lanes that had no batch, so that the model stays warm.",
     &ModelMetrics::keep_warm_runs},
    {"mpsd_memory_trims_total", "Times that a worker gave back memory which it kept unused.",
     &ModelMetrics::memory_trims},
    {"mpsd_text_tokens_total", "Tokens of texts, special ones included and padding not.",
     &ModelMetrics::text_tokens},
    {"mpsd_padding_tokens_total",
     "Tokens of batches that were padding. 0 where the model leaves padding out.",
     &ModelMetrics::padding_tokens},
    {"mpsd_truncated_texts_total", "Texts that were cut to the longest row that the model takes.",
     &ModelMetrics::truncated_texts},
    {"mpsd_repeated_texts_total",
     "Texts equal to another one of their request, which were not computed again.",
     &ModelMetrics::repeated_texts},
    {"mpsd_cache_hits_total", "Requests that were given a kept answer.", &ModelMetrics::cache_hits},
    {"mpsd_cache_misses_total", "Requests for which no kept answer was found.",
     &ModelMetrics::cache_misses},
    {"mpsd_worker_restarts_total", "Workers started again after a death.",
     &ModelMetrics::worker_restarts},
    {"mpsd_worker_recycles_total",
     "Workers replaced for their memory, requests or age, or the host's lack of memory.",
     &ModelMetrics::worker_recycles},
    {"mpsd_worker_lines_dropped_total", "Lines that workers wrote beyond the rate limit.",
     &ModelMetrics::worker_lines_dropped},
    {"mpsd_worker_send_errors_total", "Control messages that could not be sent to a living worker.",
     &ModelMetrics::worker_send_errors},
    {"mpsd_worker_lane_demotions_total",
     "Workers that run fewer lanes than they were told, as their runtime or the self-check asked.",
     &ModelMetrics::lane_demotions},
};

constexpr MetricRow<ModelMetrics, int64_t> kModelGauges[] = {
    {"mpsd_queue_requests", "Requests admitted and not yet in a batch.",
     &ModelMetrics::queued_requests},
    {"mpsd_queue_bytes", "Input bytes of the requests in the queue.", &ModelMetrics::queued_bytes},
    {"mpsd_running_batches", "Batches that workers hold.", &ModelMetrics::running_batches},
    {"mpsd_workers_configured", "Workers that should serve.", &ModelMetrics::workers_configured},
    {"mpsd_workers_ready", "Workers that do serve.", &ModelMetrics::workers_ready},
    {"mpsd_open_sequences", "Sequences that have begun and not ended.",
     &ModelMetrics::open_sequences},
    {"mpsd_circuit_open", "1 while a model rests, for its workers' deaths or their device.",
     &ModelMetrics::circuit_open},
    {"mpsd_input_slabs_leased", "Input slabs in use.", &ModelMetrics::input_slabs_leased},
    {"mpsd_slab_segment_bytes", "Shared memory that requests' rows may lie in.",
     &ModelMetrics::slab_segment_bytes},
    {"mpsd_output_leases", "Output slabs in use, by batches or by replies that are not read yet.",
     &ModelMetrics::output_leases},
    {"mpsd_pinned_output_bytes", "Bytes of the output slabs that unfinished replies point into.",
     &ModelMetrics::pinned_output_bytes},
};

constexpr MetricRow<ServerMetrics, uint64_t> kServerCounters[] = {
    {"mpsd_log_lines_dropped_total", "Log lines lost to the rate limit or a slow log.",
     &ServerMetrics::log_lines_dropped},
    {"mpsd_refused_connections_total", "Connections closed at once, beyond the limit.",
     &ServerMetrics::refused_connections},
    {"mpsd_displaced_connections_total", "Idle connections closed to make room for new ones.",
     &ServerMetrics::displaced_connections},
    {"mpsd_refused_calls_total", "Calls refused at once, beyond the limit of open calls.",
     &ServerMetrics::refused_calls},
    {"mpsd_untaken_answers_total", "Calls and streams cut off since their answers were not taken.",
     &ServerMetrics::untaken_answers},
    {"mpsd_flooding_connections_total", "Connections cut because their client floods.",
     &ServerMetrics::flooding_connections},
    {"mpsd_unread_connections_total",
     "Connections cut because their client leaves large replies unread while others need the room.",
     &ServerMetrics::unread_connections},
    {"mpsd_device_copier_deaths_total", "Device copiers that died, hung or lied.",
     &ServerMetrics::device_copier_deaths},
    {"mpsd_evicted_answers_total", "Kept answers that were dropped to make room for others.",
     &ServerMetrics::evicted_answers},
    {"mpsd_lost_traces_total",
     "Traced requests whose spans the file or the collector did not take.",
     &ServerMetrics::lost_traces},
    {"mpsd_model_load_failures_total", "Models that could not be loaded at run time.",
     &ServerMetrics::model_load_failures},
    {"mpsd_pull_failures_total", "Pulls of models of the config that failed and are tried again.",
     &ServerMetrics::pull_failures},
    {"mpsd_config_reloads_total", "Reloads of the config, failed ones too.",
     &ServerMetrics::config_reloads},
    {"mpsd_config_reload_failures_total", "Reloads after which what served before served on.",
     &ServerMetrics::failed_config_reloads},
    {"mpsd_memory_pressure_rises_total", "Times that the host's memory became shorter.",
     &ServerMetrics::memory_pressure_rises},
};

constexpr MetricRow<ServerMetrics, int64_t> kServerGauges[] = {
    {"mpsd_open_calls", "Calls of gRPC and inferences of HTTP that are open.",
     &ServerMetrics::open_calls},
    {"mpsd_connections", "gRPC connections that are open.", &ServerMetrics::connections},
    {"mpsd_unread_copy_bytes", "Copies of large replies that clients have not read yet.",
     &ServerMetrics::unread_copy_bytes},
    {"mpsd_inflated_request_bytes", "Held of requests that came compressed and were inflated.",
     &ServerMetrics::inflated_request_bytes},
    {"mpsd_http_connections", "HTTP connections that are open.", &ServerMetrics::http_connections},
    {"mpsd_http_body_bytes", "Held of the bodies of HTTP requests, as they came.",
     &ServerMetrics::http_body_bytes},
    {"mpsd_memory_pressure", "The host's memory: 1 is short, 2 very short; 0 is not, or not known.",
     &ServerMetrics::memory_pressure},
    {"mpsd_kept_answers", "Answers that are kept for equal requests.",
     &ServerMetrics::kept_answers},
    {"mpsd_kept_answer_bytes", "What they take.", &ServerMetrics::kept_answer_bytes},
    {"mpsd_step_requests", "Requests of models of steps that are inside.",
     &ServerMetrics::step_requests},
    {"mpsd_step_copy_bytes",
     "Copies of tensors between steps, and of answers that wait for other parts.",
     &ServerMetrics::step_copy_bytes},
    {"mpsd_sequence_state_bytes", "What open sequences keep between their requests.",
     &ServerMetrics::sequence_state_bytes},
    {"mpsd_client_regions", "Memory regions that clients have registered.",
     &ServerMetrics::client_regions},
    {"mpsd_client_region_bytes", "Bytes of these regions.", &ServerMetrics::client_region_bytes},
    {"mpsd_config_reload_ok", "Whether what runs is what the config says; 0 after a failed reload.",
     &ServerMetrics::config_reload_ok},
    {"mpsd_config_reload_time_seconds",
     "When the last reload ended, since the Unix epoch; 0: never.",
     &ServerMetrics::config_reload_time_s},
};

constexpr MetricRow<AccessMetrics, uint64_t> kAccessCounters[] = {
    {"mpsd_unauthenticated_calls_total", "Calls without credentials, or with wrong ones.",
     &AccessMetrics::unauthenticated_calls},
    {"mpsd_denied_calls_total", "Calls that the caller's credentials do not allow.",
     &AccessMetrics::denied_calls},
    {"mpsd_certificates_taken_total", "Times that the server's certificate was replaced.",
     &AccessMetrics::certificates_taken},
    {"mpsd_certificates_refused_total",
     "Times that changed certificate files did not belong together, and the old ones went on.",
     &AccessMetrics::certificates_refused},
};

constexpr MetricRow<AccessMetrics, int64_t> kAccessGauges[] = {
    {"mpsd_certificate_not_after_seconds",
     "When the server's certificate ends, since the Unix epoch; 0 without TLS.",
     &AccessMetrics::certificate_not_after_s},
};

struct TritonCounter {
  const char* name;
  const char* help;
  uint64_t (*value)(const Totals& totals);
};

constexpr TritonCounter kTritonCounters[] = {
    {"nv_inference_request_success", "Requests that were answered.",
     [](const Totals& totals) { return totals.success.count; }},
    {"nv_inference_count", "Rows that batches answered.",
     [](const Totals& totals) { return totals.inference_count; }},
    {"nv_inference_exec_count", "Batches that ran.",
     [](const Totals& totals) { return totals.execution_count; }},
    {"nv_inference_request_duration_us", "Time of the requests that were answered.",
     [](const Totals& totals) { return totals.success.ns / kNsPerUs; }},
    {"nv_inference_queue_duration_us", "Their time in the queue.",
     [](const Totals& totals) { return totals.queue.ns / kNsPerUs; }},
    {"nv_inference_compute_input_duration_us", "Their time from the batch to the lane.",
     [](const Totals& totals) { return totals.compute_input.ns / kNsPerUs; }},
    {"nv_inference_compute_infer_duration_us", "Their time in the lane.",
     [](const Totals& totals) { return totals.compute_infer.ns / kNsPerUs; }},
    {"nv_inference_compute_output_duration_us", "Their time from the lane to the answer.",
     [](const Totals& totals) { return totals.compute_output.ns / kNsPerUs; }},
    {"nv_cache_num_hits_per_model", "Requests that were given a kept answer.",
     [](const Totals& totals) { return totals.cache_hit.count; }},
    {"nv_cache_num_misses_per_model", "Requests for which no kept answer was found.",
     [](const Totals& totals) { return totals.cache_miss.count; }},
    {"nv_cache_hit_duration_per_model", "Microseconds in which kept answers were found.",
     [](const Totals& totals) { return totals.cache_hit.ns / kNsPerUs; }},
    {"nv_cache_miss_duration_per_model",
     "Microseconds in which none was found, and answers were kept.",
     [](const Totals& totals) { return totals.cache_miss.ns / kNsPerUs; }},
};

constexpr MetricRow<ModelMetrics, int64_t> kTritonGauges[] = {
    {"nv_inference_pending_request_count", "Requests in the queue.",
     &ModelMetrics::queued_requests},
};

struct Stage {
  const char* label;
  StageHistogram ModelMetrics::*histogram;
};

constexpr Stage kStages[] = {{"texts", &ModelMetrics::text_encoding},
                             {"queue", &ModelMetrics::queue},
                             {"dispatch", &ModelMetrics::dispatch},
                             {"execute", &ModelMetrics::execute},
                             {"respond", &ModelMetrics::respond}};

MetricFamily Family(const char* name, const char* help, MetricType type) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  return family;
}

ClientMetric CounterMetric(double value, MetricLabels labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  return metric;
}

ClientMetric GaugeMetric(double value, MetricLabels labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  return metric;
}

MetricFamily SingleCounter(const char* name, const char* help, double value) {
  MetricFamily family = Family(name, help, MetricType::Counter);
  family.metric.push_back(CounterMetric(value));
  return family;
}

MetricFamily SingleGauge(const char* name, const char* help, double value) {
  MetricFamily family = Family(name, help, MetricType::Gauge);
  family.metric.push_back(GaugeMetric(value));
  return family;
}

// Absl's status codes and names are those of gRPC.
std::string CodeName(size_t code) {
  MPSD_CHECK(code < kStatusCodes);
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

template <typename Number>
double ToDouble(const std::atomic<Number>& value) {
  return static_cast<double>(value.load(std::memory_order_relaxed));
}

MetricLabels LabelsOf(const ModelMetrics& model) {
  return {{"model", model.model}, {"version", model.version}};
}

MetricLabels LabelsOf(const ServerMetrics& /*server*/) { return {}; }
MetricLabels LabelsOf(const AccessMetrics& /*access*/) { return {}; }

MetricLabels LabelsOf(const ModelStateSample& sample, const RuntimeSample& runtime) {
  return {{"model", sample.model},
          {"version", sample.version},
          {"worker", std::to_string(runtime.worker)},
          {"device", runtime.device}};
}

MetricLabels LabelsOf(const ModelMetrics& model, const char* name, std::string value) {
  MetricLabels labels = LabelsOf(model);
  labels.push_back({name, std::move(value)});
  return labels;
}

// Each family gets one series for each of `all`.
template <typename Metrics, typename Number, size_t kRows>
void AppendRows(const MetricRow<Metrics, Number> (&rows)[kRows],
                absl::Span<const Metrics* const> all, std::vector<MetricFamily>* families) {
  for (const MetricRow<Metrics, Number>& row : rows) {
    MetricFamily& family = families->emplace_back(Family(row.name, row.help, row.kType));
    for (const Metrics* metrics : all) {
      const double value = ToDouble(metrics->*row.value);
      family.metric.push_back(row.kType == MetricType::Counter
                                  ? CounterMetric(value, LabelsOf(*metrics))
                                  : GaugeMetric(value, LabelsOf(*metrics)));
    }
  }
}

// The count is the sum of the buckets read, so both agree even if a request ends during the scrape.
// The serializer adds the bucket +Inf.
template <size_t kBounds>
ClientMetric HistogramMetric(const std::array<double, kBounds>& bounds,
                             const typename AtomicHistogram<kBounds>::Snapshot& snapshot,
                             MetricLabels labels) {
  ClientMetric metric;
  metric.label = std::move(labels);
  uint64_t cumulative = 0;
  for (size_t i = 0; i < kBounds; ++i) {
    cumulative += snapshot.counts[i];
    metric.histogram.bucket.push_back({cumulative, bounds[i]});
  }
  metric.histogram.sample_count = cumulative + snapshot.counts[kBounds];
  metric.histogram.sample_sum = snapshot.sum;
  return metric;
}

MetricFamily RequestsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_requests_total", "Requests that ended, by gRPC status code.",
                               MetricType::Counter);
  for (const ModelMetrics* model : models) {
    for (size_t code = 0; code < kStatusCodes; ++code) {
      const double value = ToDouble(model->requests_by_code[code]);
      if (code != 0 && value == 0) continue;
      family.metric.push_back(CounterMetric(value, LabelsOf(*model, "code", CodeName(code))));
    }
  }
  return family;
}

MetricFamily ExitsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family =
      Family("mpsd_worker_exits_total", "Workers that ended, by reason.", MetricType::Counter);
  for (const ModelMetrics* model : models) {
    for (size_t exit = 0; exit < kWorkerExits; ++exit) {
      const double value = ToDouble(model->worker_exits[exit]);
      family.metric.push_back(
          CounterMetric(value, LabelsOf(*model, "reason", kWorkerExitNames[exit])));
    }
  }
  return family;
}

// Only for models that have had a sequence.
MetricFamily SequencesFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family =
      Family("mpsd_sequences_ended_total", "Sequences that ended, by reason.", MetricType::Counter);
  for (const ModelMetrics* model : models) {
    double ended = ToDouble(model->open_sequences);
    for (const auto& count : model->ended_sequences) ended += ToDouble(count);
    if (ended == 0) continue;
    for (size_t end = 0; end < kSequenceEnds; ++end) {
      const double value = ToDouble(model->ended_sequences[end]);
      family.metric.push_back(
          CounterMetric(value, LabelsOf(*model, "reason", kSequenceEndNames[end])));
    }
  }
  return family;
}

// Adds nothing if nothing was observed: all rows would say 0.
void AppendObserved(ClientMetric histogram, MetricFamily* family) {
  if (histogram.histogram.sample_count > 0) family->metric.push_back(std::move(histogram));
}

MetricFamily StagesFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_stage_seconds", "Time that a request spent in each stage.",
                               MetricType::Histogram);
  for (const ModelMetrics* model : models) {
    for (const Stage& stage : kStages) {
      const StageHistogram& histogram = model->*stage.histogram;
      AppendObserved(HistogramMetric(histogram.bounds(), histogram.ReadSeconds(),
                                     LabelsOf(*model, "stage", stage.label)),
                     &family);
    }
  }
  return family;
}

MetricFamily BatchRowsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_batch_rows", "Rows of each batch.", MetricType::Histogram);
  for (const ModelMetrics* model : models) {
    const BatchHistogram& histogram = model->batch_rows;
    AppendObserved(HistogramMetric(histogram.bounds(), histogram.ReadRows(), LabelsOf(*model)),
                   &family);
  }
  return family;
}

MetricFamily BatchTokensFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family =
      Family("mpsd_batch_tokens", "Tokens of each batch, with the padding that was computed.",
             MetricType::Histogram);
  for (const ModelMetrics* model : models) {
    const TokenHistogram& histogram = model->batch_tokens;
    AppendObserved(HistogramMetric(histogram.bounds(), histogram.ReadTokens(), LabelsOf(*model)),
                   &family);
  }
  return family;
}

// 1 at most: an old generation may drain beside the new one.
double SaturationOf(const ModelMetrics& model) {
  return std::min(ToDouble(model.saturation_permille) / 1000, 1.0);
}

MetricFamily RefusedFamily(const ServerMetrics& server) {
  MetricFamily family =
      Family("mpsd_refused_requests_total",
             "Requests refused before there was a model for them, by gRPC status code.",
             MetricType::Counter);
  for (size_t code = 1; code < kStatusCodes; ++code) {
    family.metric.push_back(
        CounterMetric(ToDouble(server.refused_by_code[code]), {{"code", CodeName(code)}}));
  }
  return family;
}

MetricFamily HttpRepliesFamily(const HttpReplies& replies) {
  MetricFamily family =
      Family("mpsd_http_replies_total", "Replies over HTTP, by status code.", MetricType::Counter);
  for (size_t i = 0; i < HttpReplies::kCodes.size(); ++i) {
    const std::string code = std::to_string(HttpReplies::kCodes[i]);
    family.metric.push_back(CounterMetric(static_cast<double>(replies.Count(i)), {{"code", code}}));
  }
  return family;
}

// Refusals of a request's wishes are none of these.
struct FailureReason {
  const char* name;
  std::initializer_list<absl::StatusCode> codes;
};

MetricFamily FailuresFamily(absl::Span<const ModelMetrics* const> models) {
  using Code = absl::StatusCode;
  static constexpr FailureReason kReasons[] = {
      {"REJECTED", {Code::kResourceExhausted, Code::kDeadlineExceeded}},
      {"CANCELED", {Code::kCancelled}},
      {"BACKEND", {Code::kInternal, Code::kUnknown}},
      {"OTHER", {Code::kUnavailable, Code::kAborted}}};
  MetricFamily family =
      Family("nv_inference_request_failure", "Requests that failed.", MetricType::Counter);
  for (const ModelMetrics* model : models) {
    for (const FailureReason& reason : kReasons) {
      double value = 0;
      for (const Code code : reason.codes) {
        value += ToDouble(model->requests_by_code[static_cast<size_t>(code)]);
      }
      family.metric.push_back(CounterMetric(value, LabelsOf(*model, "reason", reason.name)));
    }
  }
  return family;
}

}  // namespace

MetricFamily BuildFamily(absl::Span<const std::pair<std::string, std::string>> build) {
  MetricFamily family =
      Family("mpsd_build_info", "What this daemon was built from.", MetricType::Gauge);
  MetricLabels labels;
  for (const auto& [name, value] : build) labels.push_back({name, value});
  family.metric.push_back(GaugeMetric(1, std::move(labels)));
  return family;
}

std::vector<MetricFamily> ModelFamilies(absl::Span<const ModelMetrics* const> models) {
  std::vector<MetricFamily> families;
  if (models.empty()) return families;
  families.push_back(RequestsFamily(models));
  families.push_back(ExitsFamily(models));
  families.push_back(SequencesFamily(models));
  families.push_back(StagesFamily(models));
  families.push_back(BatchRowsFamily(models));
  families.push_back(BatchTokensFamily(models));
  AppendRows(kModelCounters, models, &families);
  AppendRows(kModelGauges, models, &families);
  return families;
}

std::vector<MetricFamily> LoadFamilies(absl::Span<const ModelMetrics* const> models) {
  double queued = 0;
  double inside = 0;
  double saturation = 0;
  MetricFamily of_models =
      Family("mpsd_model_saturation", "How near a model is to refusing requests; 1: it does.",
             MetricType::Gauge);
  MetricFamily needed =
      Family("mpsd_replicas_needed",
             "Hosts like this one that a model's requests need within its SLO.", MetricType::Gauge);
  MetricFamily load =
      Family("mpsd_model_load", "Offered rows as a share of the most that a model's lanes answer.",
             MetricType::Gauge);
  for (const ModelMetrics* model : models) {
    load.metric.push_back(GaugeMetric(ToDouble(model->load_permille) / 1000, LabelsOf(*model)));
    queued += ToDouble(model->queued_requests);
    inside += ToDouble(model->inside_requests);
    saturation = std::max(saturation, SaturationOf(*model));
    of_models.metric.push_back(GaugeMetric(SaturationOf(*model), LabelsOf(*model)));
    if (model->replicas_known == 0) continue;
    needed.metric.push_back(
        GaugeMetric(ToDouble(model->replicas_needed_permille) / 1000, LabelsOf(*model)));
  }
  return {
      of_models,
      load,
      needed,
      SingleGauge("mpsd_saturation", "mpsd_model_saturation of the model that has the most.",
                  saturation),
      SingleGauge("mpsd_queued_requests", "mpsd_queue_requests of all models.", queued),
      SingleGauge("mpsd_running_requests", "Requests that batches or unread answers hold.",
                  std::max(inside - queued, 0.0)),
  };
}

MetricFamily StatesFamily(absl::Span<const ModelStateSample> samples) {
  MetricFamily family =
      Family("mpsd_model_state", "1 for the state that a version is in.", MetricType::Gauge);
  for (const ModelStateSample& sample : samples) {
    for (size_t state = 0; state < kModelStates; ++state) {
      const bool is_in = sample.state == static_cast<ModelState>(state);
      family.metric.push_back(GaugeMetric(is_in ? 1 : 0, {{"model", sample.model},
                                                          {"version", sample.version},
                                                          {"state", kModelStateNames[state]}}));
    }
  }
  return family;
}

MetricFamily PrecisionFamily(absl::Span<const ModelStateSample> samples) {
  MetricFamily family =
      Family("mpsd_model_precision", "1, with what a version computes in.", MetricType::Gauge);
  for (const ModelStateSample& sample : samples) {
    if (sample.precision.empty()) continue;
    family.metric.push_back(GaugeMetric(
        1,
        {{"model", sample.model}, {"version", sample.version}, {"precision", sample.precision}}));
  }
  return family;
}

MetricFamily TokenBudgetsFamily(absl::Span<const ModelStateSample> samples) {
  MetricFamily family =
      Family("mpsd_batch_token_budget",
             "The most tokens of a batch that requests share, of models that have such a bound.",
             MetricType::Gauge);
  for (const ModelStateSample& sample : samples) {
    if (sample.max_batch_tokens == 0) continue;
    family.metric.push_back(GaugeMetric(static_cast<double>(sample.max_batch_tokens),
                                        {{"model", sample.model}, {"version", sample.version}}));
  }
  return family;
}

MetricFamily RuntimesFamily(absl::Span<const ModelStateSample> samples) {
  MetricFamily family =
      Family("mpsd_runtime_info", "1, with what a worker runs its model with, and where.",
             MetricType::Gauge);
  for (const ModelStateSample& sample : samples) {
    for (const RuntimeSample& runtime : sample.runtimes) {
      family.metric.push_back(GaugeMetric(1, {{"model", sample.model},
                                              {"version", sample.version},
                                              {"worker", std::to_string(runtime.worker)},
                                              {"device", runtime.device},
                                              {"runtime", runtime.runtime},
                                              {"kind", runtime.kind},
                                              {"path", runtime.path},
                                              {"driver_guard", runtime.driver_guard},
                                              {"input_memory", runtime.input_memory}}));
    }
  }
  return family;
}

MetricFamily SlownessFamily(absl::Span<const ModelStateSample> samples) {
  MetricFamily family =
      Family("mpsd_worker_slowness",
             "How many times as long as the model's others a worker takes; 1: it is not slow.",
             MetricType::Gauge);
  for (const ModelStateSample& sample : samples) {
    for (const RuntimeSample& runtime : sample.runtimes) {
      family.metric.push_back(
          GaugeMetric(runtime.slowness, {{"model", sample.model},
                                         {"version", sample.version},
                                         {"worker", std::to_string(runtime.worker)}}));
    }
  }
  return family;
}

MetricFamily WorkerMemoryFamily(absl::Span<const ModelStateSample> samples) {
  MetricFamily family =
      Family("mpsd_worker_resident_memory_bytes",
             "Resident memory of a worker, without what its device holds.", MetricType::Gauge);
  for (const ModelStateSample& sample : samples) {
    for (const RuntimeSample& runtime : sample.runtimes) {
      if (runtime.resident_bytes == 0) continue;
      family.metric.push_back(
          GaugeMetric(static_cast<double>(runtime.resident_bytes), LabelsOf(sample, runtime)));
    }
  }
  return family;
}

std::vector<MetricFamily> GpuFamilies(absl::Span<const GpuSample> gpus,
                                      absl::Span<const ModelStateSample> samples) {
  if (gpus.empty()) return {};
  MetricFamily busy = Family("mpsd_gpu_busy", "Share of the last moment in which a gpu computed.",
                             MetricType::Gauge);
  MetricFamily used =
      Family("mpsd_gpu_memory_used_bytes", "Memory of a gpu that is in use.", MetricType::Gauge);
  MetricFamily memory = Family("mpsd_gpu_memory_bytes", "Memory of a gpu.", MetricType::Gauge);
  MetricFamily workers = Family("mpsd_worker_device_memory_bytes",
                                "What a worker holds of the gpus' memory.", MetricType::Gauge);
  for (const GpuSample& gpu : gpus) {
    const MetricLabels labels = {{"gpu", std::to_string(gpu.index)}, {"uuid", gpu.uuid}};
    if (gpu.busy >= 0) busy.metric.push_back(GaugeMetric(gpu.busy, labels));
    if (gpu.memory_bytes == 0) continue;
    used.metric.push_back(GaugeMetric(static_cast<double>(gpu.used_bytes), labels));
    memory.metric.push_back(GaugeMetric(static_cast<double>(gpu.memory_bytes), labels));
  }
  for (const ModelStateSample& sample : samples) {
    for (const RuntimeSample& runtime : sample.runtimes) {
      uint64_t bytes = 0;
      for (const GpuSample& gpu : gpus) {
        const auto found = gpu.processes.find(runtime.pid);
        if (found != gpu.processes.end()) bytes += found->second;
      }
      if (bytes == 0) continue;
      workers.metric.push_back(GaugeMetric(static_cast<double>(bytes), LabelsOf(sample, runtime)));
    }
  }
  return {busy, used, memory, workers};
}

std::vector<MetricFamily> ResourceFamilies(absl::Span<const ResourceSample> samples) {
  if (samples.empty()) return {};
  MetricFamily limits =
      Family("mpsd_resource_limit", "How much there is of a resource that models share.",
             MetricType::Gauge);
  MetricFamily held =
      Family("mpsd_resource_held", "How much of it the running batches hold.", MetricType::Gauge);
  MetricFamily waiting =
      Family("mpsd_resource_waiting", "Models that wait for it with a lane.", MetricType::Gauge);
  for (const ResourceSample& sample : samples) {
    const MetricLabels labels = {{"resource", sample.name}, {"device", sample.device}};
    limits.metric.push_back(GaugeMetric(static_cast<double>(sample.limit), labels));
    held.metric.push_back(GaugeMetric(static_cast<double>(sample.held), labels));
    waiting.metric.push_back(GaugeMetric(static_cast<double>(sample.waiting), labels));
  }
  return {limits, held, waiting};
}

std::vector<MetricFamily> PullFamilies(absl::Span<const PullSample> samples) {
  if (samples.empty()) return {};
  MetricFamily bytes = Family("mpsd_pull_bytes", "What is here of a model that comes from a hub.",
                              MetricType::Gauge);
  MetricFamily expected = Family("mpsd_pull_expected_bytes",
                                 "All of its files; 0 until the hub has told.", MetricType::Gauge);
  for (const PullSample& sample : samples) {
    const MetricLabels labels = {{"source", sample.source}};
    bytes.metric.push_back(GaugeMetric(static_cast<double>(sample.bytes), labels));
    expected.metric.push_back(GaugeMetric(static_cast<double>(sample.expected_bytes), labels));
  }
  return {bytes, expected};
}

std::vector<MetricFamily> TritonFamilies(absl::Span<const ModelMetrics* const> models) {
  std::vector<MetricFamily> families;
  if (models.empty()) return families;
  for (const TritonCounter& counter : kTritonCounters) {
    families.push_back(Family(counter.name, counter.help, MetricType::Counter));
  }
  for (const ModelMetrics* model : models) {
    const Totals totals = model->inference.Read();
    for (size_t i = 0; i < families.size(); ++i) {
      const auto value = static_cast<double>(kTritonCounters[i].value(totals));
      families[i].metric.push_back(CounterMetric(value, LabelsOf(*model)));
    }
  }
  families.push_back(FailuresFamily(models));
  AppendRows(kTritonGauges, models, &families);
  return families;
}

std::vector<MetricFamily> ServerFamilies(const ServerMetrics& server) {
  std::vector<MetricFamily> families;
  families.push_back(RefusedFamily(server));
  families.push_back(HttpRepliesFamily(server.http_replies));
  AppendRows(kServerCounters, {&server}, &families);
  AppendRows(kServerGauges, {&server}, &families);
  return families;
}

std::vector<MetricFamily> AccessFamilies(const AccessMetrics& access) {
  std::vector<MetricFamily> families;
  AppendRows(kAccessCounters, {&access}, &families);
  AppendRows(kAccessGauges, {&access}, &families);
  return families;
}

std::vector<MetricFamily> ProcessFamilies(const ProcessStats& process, double start_time_seconds) {
  return {
      SingleGauge("process_start_time_seconds", "When the daemon started, since the Unix epoch.",
                  start_time_seconds),
      SingleGauge("process_resident_memory_bytes", "Resident memory of the daemon.",
                  static_cast<double>(process.resident_bytes)),
      SingleGauge("process_open_fds", "Open file descriptors of the daemon.",
                  static_cast<double>(process.open_fds)),
      SingleGauge("process_max_fds", "File descriptors that the daemon may open.",
                  static_cast<double>(process.max_fds)),
      SingleCounter("process_cpu_seconds_total", "Processor time of the daemon, user and system.",
                    process.cpu_seconds),
  };
}

MetricFamily LimitsFamily(absl::Span<const std::pair<std::string, double>> limits) {
  MetricFamily family = Family("mpsd_limit", "Bounds of the daemon.", MetricType::Gauge);
  for (const auto& [name, value] : limits) {
    family.metric.push_back(GaugeMetric(value, {{"limit", name}}));
  }
  return family;
}

}  // namespace mpsd

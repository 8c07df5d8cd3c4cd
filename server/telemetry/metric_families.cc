#include "server/telemetry/metric_families.h"

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace mpsd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

struct ModelCounter {
  const char* name;
  const char* help;
  std::atomic<uint64_t> ModelMetrics::*value;
};

constexpr ModelCounter kModelCounters[] = {
    {"mpsd_batches_total", "Batches that ended.", &ModelMetrics::batches},
    {"mpsd_gathered_batches_total", "Batches of several row runs, which a lane had to gather.",
     &ModelMetrics::gathered_batches},
    {"mpsd_skipped_batches_total", "Batches that no lane ran, since no live row was left.",
     &ModelMetrics::skipped_batches},
    {"mpsd_dispatched_again_total", "Requests dispatched again, since their worker died.",
     &ModelMetrics::dispatched_again},
    {"mpsd_quarantined_requests_total",
     "Requests ended unseen by a worker, since one that held the same had crashed its worker.",
     &ModelMetrics::quarantined_requests},
    {"mpsd_timeout_wakeups_total", "Wake-ups that came by time-out. Each of them is a bug.",
     &ModelMetrics::timeout_wakeups},
    {"mpsd_copied_replies_total", "Large replies copied, since too much output was pinned.",
     &ModelMetrics::copied_replies},
    {"mpsd_worker_restarts_total", "Workers started again after a death.",
     &ModelMetrics::worker_restarts},
    {"mpsd_worker_recycles_total", "Workers replaced for their memory, requests or age.",
     &ModelMetrics::worker_recycles},
    {"mpsd_worker_lines_dropped_total", "Lines that workers wrote beyond the rate limit.",
     &ModelMetrics::worker_lines_dropped},
    {"mpsd_worker_lane_demotions_total",
     "Workers that run fewer lanes than they were told, as their runtime or the self-check asked.",
     &ModelMetrics::lane_demotions},
};

struct ModelGauge {
  const char* name;
  const char* help;
  std::atomic<int64_t> ModelMetrics::*value;
};

constexpr ModelGauge kModelGauges[] = {
    {"mpsd_queue_requests", "Requests admitted and not yet in a batch.",
     &ModelMetrics::queued_requests},
    {"mpsd_queue_bytes", "Input bytes of the requests in the queue.", &ModelMetrics::queued_bytes},
    {"mpsd_running_batches", "Batches that workers hold.", &ModelMetrics::running_batches},
    {"mpsd_workers_configured", "Workers that should serve.", &ModelMetrics::workers_configured},
    {"mpsd_workers_ready", "Workers that do serve.", &ModelMetrics::workers_ready},
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

struct Stage {
  const char* label;
  StageHistogram ModelMetrics::*histogram;
};

constexpr Stage kStages[] = {{"queue", &ModelMetrics::queue},
                             {"dispatch", &ModelMetrics::dispatch},
                             {"execute", &ModelMetrics::execute},
                             {"respond", &ModelMetrics::respond}};

struct ServerCounter {
  const char* name;
  const char* help;
  std::atomic<uint64_t> ServerMetrics::*value;
};

struct ServerGauge {
  const char* name;
  const char* help;
  std::atomic<int64_t> ServerMetrics::*value;
};

constexpr ServerGauge kServerGauges[] = {
    {"mpsd_open_calls", "gRPC calls that are open.", &ServerMetrics::open_calls},
    {"mpsd_connections", "gRPC connections that are open.", &ServerMetrics::connections},
    {"mpsd_unread_copy_bytes", "Copies of large replies that clients have not read yet.",
     &ServerMetrics::unread_copy_bytes},
    {"mpsd_inflated_request_bytes", "Held of requests that came compressed and were inflated.",
     &ServerMetrics::inflated_request_bytes},
    {"mpsd_client_regions", "Memory regions that clients have registered.",
     &ServerMetrics::client_regions},
    {"mpsd_client_region_bytes", "Bytes of these regions.", &ServerMetrics::client_region_bytes},
    {"mpsd_config_reload_ok", "Whether what runs is what the config says; 0 after a failed reload.",
     &ServerMetrics::config_reload_ok},
    {"mpsd_config_reload_time_seconds",
     "When the last reload ended, since the Unix epoch; 0: never.",
     &ServerMetrics::config_reload_time_s},
};

constexpr ServerCounter kServerCounters[] = {
    {"mpsd_log_lines_dropped_total", "Log lines lost to the rate limit or a slow log.",
     &ServerMetrics::log_lines_dropped},
    {"mpsd_refused_connections_total", "Connections closed at once, beyond the limit.",
     &ServerMetrics::refused_connections},
    {"mpsd_device_copier_deaths_total", "Device copiers that died, hung or lied.",
     &ServerMetrics::device_copier_deaths},
    {"mpsd_lost_traces_total", "Traced requests whose spans their file did not take in time.",
     &ServerMetrics::lost_traces},
    {"mpsd_model_load_failures_total", "Models that could not be loaded at run time.",
     &ServerMetrics::model_load_failures},
};

double ToDouble(const std::atomic<uint64_t>& value) {
  return static_cast<double>(value.load(std::memory_order_relaxed));
}

double ToDouble(const std::atomic<int64_t>& value) {
  return static_cast<double>(value.load(std::memory_order_relaxed));
}

MetricFamily Family(const char* name, const char* help, MetricType type) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  return family;
}

ClientMetric CounterMetric(double value, Labels labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  return metric;
}

ClientMetric GaugeMetric(double value, Labels labels = {}) {
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

Labels ModelLabels(const ModelMetrics& model) {
  return {{"model", model.model}, {"version", model.version}};
}

Labels ModelLabels(const ModelMetrics& model, const char* name, std::string value) {
  Labels labels = ModelLabels(model);
  labels.push_back({name, std::move(value)});
  return labels;
}

// The count is the sum of the buckets that were read, so that the two agree even when a request
// ends during the scrape. The serializer adds the bucket of +Inf itself.
template <size_t kBounds>
ClientMetric HistogramMetric(const std::array<double, kBounds>& bounds,
                             const typename AtomicHistogram<kBounds>::Snapshot& snapshot,
                             Labels labels) {
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

// absl's status codes and their names are gRPC's.
std::string CodeName(size_t code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

MetricFamily RequestsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_requests_total", "Requests that ended, by gRPC status code.",
                               MetricType::Counter);
  for (const ModelMetrics* model : models) {
    for (size_t code = 0; code < kStatusCodes; ++code) {
      const double value = ToDouble(model->requests_by_code[code]);
      if (code != 0 && value == 0) continue;
      family.metric.push_back(CounterMetric(value, ModelLabels(*model, "code", CodeName(code))));
    }
  }
  return family;
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

MetricFamily ExitsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family =
      Family("mpsd_worker_exits_total", "Workers that ended, by reason.", MetricType::Counter);
  for (const ModelMetrics* model : models) {
    for (size_t exit = 0; exit < kWorkerExits; ++exit) {
      const double value = ToDouble(model->worker_exits[exit]);
      family.metric.push_back(
          CounterMetric(value, ModelLabels(*model, "reason", kWorkerExitNames[exit])));
    }
  }
  return family;
}

MetricFamily StagesFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_stage_seconds", "Time that a request spent in each stage.",
                               MetricType::Histogram);
  for (const ModelMetrics* model : models) {
    for (const Stage& stage : kStages) {
      const StageHistogram& histogram = model->*stage.histogram;
      family.metric.push_back(HistogramMetric(histogram.bounds(), histogram.ReadSeconds(),
                                              ModelLabels(*model, "stage", stage.label)));
    }
  }
  return family;
}

MetricFamily BatchRowsFamily(absl::Span<const ModelMetrics* const> models) {
  MetricFamily family = Family("mpsd_batch_rows", "Rows of each batch.", MetricType::Histogram);
  for (const ModelMetrics* model : models) {
    const BatchHistogram& histogram = model->batch_rows;
    family.metric.push_back(
        HistogramMetric(histogram.bounds(), histogram.ReadRows(), ModelLabels(*model)));
  }
  return family;
}

}  // namespace

std::vector<MetricFamily> ModelFamilies(absl::Span<const ModelMetrics* const> models) {
  std::vector<MetricFamily> families;
  if (models.empty()) return families;
  families.push_back(RequestsFamily(models));
  families.push_back(ExitsFamily(models));
  families.push_back(StagesFamily(models));
  families.push_back(BatchRowsFamily(models));
  for (const ModelCounter& counter : kModelCounters) {
    MetricFamily& family =
        families.emplace_back(Family(counter.name, counter.help, MetricType::Counter));
    for (const ModelMetrics* model : models) {
      family.metric.push_back(CounterMetric(ToDouble(model->*counter.value), ModelLabels(*model)));
    }
  }
  for (const ModelGauge& gauge : kModelGauges) {
    MetricFamily& family = families.emplace_back(Family(gauge.name, gauge.help, MetricType::Gauge));
    for (const ModelMetrics* model : models) {
      family.metric.push_back(GaugeMetric(ToDouble(model->*gauge.value), ModelLabels(*model)));
    }
  }
  return families;
}

std::vector<MetricFamily> ServerFamilies(const ServerMetrics& server) {
  std::vector<MetricFamily> families;
  families.push_back(RefusedFamily(server));
  for (const ServerCounter& counter : kServerCounters) {
    families.push_back(SingleCounter(counter.name, counter.help, ToDouble(server.*counter.value)));
  }
  for (const ServerGauge& gauge : kServerGauges) {
    families.push_back(SingleGauge(gauge.name, gauge.help, ToDouble(server.*gauge.value)));
  }
  return families;
}

std::vector<MetricFamily> AccessFamilies(const AccessMetrics& access) {
  return {
      SingleCounter("mpsd_unauthenticated_calls_total",
                    "Calls without credentials, or with wrong ones.",
                    ToDouble(access.unauthenticated_calls)),
      SingleCounter("mpsd_denied_calls_total", "Calls that the caller's credentials do not allow.",
                    ToDouble(access.denied_calls)),
      SingleCounter("mpsd_certificates_taken_total",
                    "Times that the server's certificate was replaced.",
                    ToDouble(access.certificates_taken)),
      SingleCounter("mpsd_certificates_refused_total",
                    "Times that changed certificate files did not belong together, and the old "
                    "ones went on.",
                    ToDouble(access.certificates_refused)),
      SingleGauge("mpsd_certificate_not_after_seconds",
                  "When the server's certificate ends, since the Unix epoch; 0 without TLS.",
                  ToDouble(access.certificate_not_after_s)),
  };
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

MetricFamily InfoFamily(const char* name, const char* help, Labels labels) {
  MetricFamily family = Family(name, help, MetricType::Gauge);
  family.metric.push_back(GaugeMetric(1, std::move(labels)));
  return family;
}

}  // namespace mpsd

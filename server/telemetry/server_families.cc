#include "server/telemetry/server_families.h"

#include "server/telemetry/metric_family.h"

namespace mpsd {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

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
    {"mpsd_refused_calls_total", "Calls refused at once, beyond the limit of open calls.",
     &ServerMetrics::refused_calls},
    {"mpsd_untaken_answers_total", "ModelInfer calls cancelled since their answer was not taken.",
     &ServerMetrics::untaken_answers},
    {"mpsd_device_copier_deaths_total", "Device copiers that died, hung or lied.",
     &ServerMetrics::device_copier_deaths},
    {"mpsd_lost_traces_total", "Traced requests whose spans their file did not take in time.",
     &ServerMetrics::lost_traces},
    {"mpsd_model_load_failures_total", "Models that could not be loaded at run time.",
     &ServerMetrics::model_load_failures},
};

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

}  // namespace

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

}  // namespace mpsd

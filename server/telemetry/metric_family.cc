#include "server/telemetry/metric_family.h"

#include <utility>

#include "absl/status/status.h"
#include "proto/base/check.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily Family(const char* name, const char* help, MetricType type) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  return family;
}

ClientMetric CounterMetric(double value, MetricLabels labels) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  return metric;
}

ClientMetric GaugeMetric(double value, MetricLabels labels) {
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

MetricFamily InfoFamily(const char* name, const char* help, MetricLabels labels) {
  MetricFamily family = Family(name, help, MetricType::Gauge);
  family.metric.push_back(GaugeMetric(1, std::move(labels)));
  return family;
}

// The status codes of absl, and their names, are those of gRPC.
std::string CodeName(size_t code) {
  MPSD_CHECK(code < kStatusCodes);
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

double ToDouble(const std::atomic<uint64_t>& value) {
  return static_cast<double>(value.load(std::memory_order_relaxed));
}

double ToDouble(const std::atomic<int64_t>& value) {
  return static_cast<double>(value.load(std::memory_order_relaxed));
}

}  // namespace mpsd

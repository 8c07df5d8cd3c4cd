#include "server/telemetry/collector/otlp_metrics.h"

#include "absl/base/casts.h"
#include "proto/encoding/protobuf_writer.h"
#include "server/telemetry/log/otlp_message.h"

namespace mpsd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr uint64_t kCumulative = 2;  // AggregationTemporality

uint64_t Bits(double value) { return absl::bit_cast<uint64_t>(value); }

// Fields that NumberDataPoint and HistogramDataPoint share.
std::string PointOf(const ClientMetric& metric, uint32_t labels_field, int64_t start_ns,
                    int64_t now_ns) {
  std::string point;
  PutFixed64(2, static_cast<uint64_t>(start_ns), &point);
  PutFixed64(3, static_cast<uint64_t>(now_ns), &point);
  OtlpAttributes labels;
  for (const ClientMetric::Label& label : metric.label)
    labels.emplace_back(label.name, label.value);
  PutOtlpAttributes(labels_field, labels, &point);
  return point;
}

// Prometheus adds up the buckets, and OTLP does not. The last bucket there has no bound here.
void PutHistogram(const ClientMetric::Histogram& histogram, std::string* point) {
  PutFixed64(4, histogram.sample_count, point);
  PutFixed64(5, Bits(histogram.sample_sum), point);
  uint64_t below = 0;
  for (const ClientMetric::Bucket& bucket : histogram.bucket) {
    PutFixed64(6, bucket.cumulative_count - below, point);
    PutFixed64(7, Bits(bucket.upper_bound), point);
    below = bucket.cumulative_count;
  }
  PutFixed64(6, histogram.sample_count - below, point);
}

// Gauge {data_points:1}; Sum and Histogram {data_points:1 aggregation_temporality:2}, and a Sum has
// is_monotonic:3.
std::string PointsOf(const MetricFamily& family, int64_t start_ns, int64_t now_ns) {
  const bool is_histogram = family.type == MetricType::Histogram;
  std::string points;
  for (const ClientMetric& metric : family.metric) {
    std::string point = PointOf(metric, is_histogram ? 9 : 7, start_ns, now_ns);
    if (is_histogram) {
      PutHistogram(metric.histogram, &point);
    } else {
      const bool counts = family.type == MetricType::Counter;
      PutFixed64(4, Bits(counts ? metric.counter.value : metric.gauge.value), &point);
    }
    PutText(1, point, &points);
  }
  if (family.type != MetricType::Gauge) PutNumber(2, kCumulative, &points);
  if (family.type == MetricType::Counter) PutNumber(3, 1, &points);
  return points;
}

// Metric {gauge:5 sum:7 histogram:9}.
uint32_t FieldOf(MetricType type) {
  if (type == MetricType::Histogram) return 9;
  return type == MetricType::Counter ? 7 : 5;
}

}  // namespace

std::string OtlpMetrics(const std::vector<MetricFamily>& families, int64_t start_ns,
                        int64_t now_ns) {
  std::string fields;
  for (const MetricFamily& family : families) {
    if (family.metric.empty()) continue;
    std::string metric;  // Metric {name:1 description:2}
    PutText(1, family.name, &metric);
    PutText(2, family.help, &metric);
    PutText(FieldOf(family.type), PointsOf(family, start_ns, now_ns), &metric);
    PutText(2, metric, &fields);
  }
  return fields;
}

}  // namespace mpsd

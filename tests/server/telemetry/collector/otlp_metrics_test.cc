#include "server/telemetry/collector/otlp_metrics.h"

#include <gmock/gmock.h>

#include <map>

#include "absl/base/casts.h"
#include "proto/encoding/protobuf_reader.h"

namespace mpsd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using testing::ElementsAre;

constexpr int64_t kStartNs = 1000;
constexpr int64_t kNowNs = 5000;

// The values of fields by number: texts and messages, and numbers in decimal.
using Fields = std::map<uint32_t, std::vector<std::string>>;

Fields Read(absl::string_view message) {
  Fields fields;
  ProtobufReader reader(message);
  while (reader.Next()) {
    const bool is_number = reader.type() == WireType::kVarint;
    fields[reader.field()].push_back(is_number ? std::to_string(reader.number())
                                               : std::string(reader.text()));
  }
  EXPECT_FALSE(reader.malformed());
  return fields;
}

uint64_t Fixed(const std::string& bytes) {
  uint64_t bits = 0;
  for (size_t i = 8; i-- > 0;) bits = bits << 8 | static_cast<uint8_t>(bytes[i]);
  return bits;
}

double Double(const std::string& bytes) { return absl::bit_cast<double>(Fixed(bytes)); }

MetricFamily FamilyOf(MetricType type) {
  MetricFamily family{"figure", "What it is.", type, {}};
  ClientMetric metric;
  metric.label = {{"model", "m"}};
  metric.counter.value = 3;
  metric.gauge.value = -0.5;
  metric.histogram.sample_count = 10;
  metric.histogram.sample_sum = 2.5;
  metric.histogram.bucket = {{4, 0.1}, {4, 1}, {7, 10}};
  family.metric.push_back(metric);
  return family;
}

// The metric's member of that number, and in `point` its only data point.
Fields Figure(MetricType type, uint32_t member, uint32_t labels, Fields* point) {
  Fields metric = Read(Read(OtlpMetrics({FamilyOf(type)}, kStartNs, kNowNs))[2].at(0));
  EXPECT_THAT(metric[1], ElementsAre("figure"));
  EXPECT_THAT(metric[2], ElementsAre("What it is."));
  Fields figure = Read(metric[member].at(0));
  *point = Read(figure[1].at(0));
  EXPECT_EQ(Fixed((*point)[2].at(0)), uint64_t{kStartNs});
  EXPECT_EQ(Fixed((*point)[3].at(0)), uint64_t{kNowNs});
  Fields label = Read((*point)[labels].at(0));
  EXPECT_THAT(label[1], ElementsAre("model"));
  EXPECT_THAT(Read(label[2].at(0))[1], ElementsAre("m"));
  return figure;
}

TEST(OtlpMetrics, ACounterIsASumThatOnlyGrows) {
  Fields point;
  Fields sum = Figure(MetricType::Counter, 7, 7, &point);
  EXPECT_THAT(sum[2], ElementsAre("2"));
  EXPECT_THAT(sum[3], ElementsAre("1"));
  EXPECT_EQ(Double(point[4].at(0)), 3);
}

TEST(OtlpMetrics, AGaugeIsAGauge) {
  Fields point;
  Figure(MetricType::Gauge, 5, 7, &point);
  EXPECT_EQ(Double(point[4].at(0)), -0.5);
}

TEST(OtlpMetrics, BucketsOfAHistogramAreNotAddedUp) {
  Fields point;
  Fields histogram = Figure(MetricType::Histogram, 9, 9, &point);
  EXPECT_THAT(histogram[2], ElementsAre("2"));
  EXPECT_EQ(Fixed(point[4].at(0)), 10U);
  EXPECT_EQ(Double(point[5].at(0)), 2.5);
  std::vector<uint64_t> counts;
  for (const std::string& count : point[6]) counts.push_back(Fixed(count));
  EXPECT_THAT(counts, ElementsAre(4, 0, 3, 3));
  std::vector<double> bounds;
  for (const std::string& bound : point[7]) bounds.push_back(Double(bound));
  EXPECT_THAT(bounds, ElementsAre(0.1, 1, 10));
}

TEST(OtlpMetrics, FamiliesWithoutASeriesAreLeftOut) {
  EXPECT_EQ(OtlpMetrics({{"none", "", MetricType::Gauge, {}}}, kStartNs, kNowNs), "");
}

}  // namespace
}  // namespace mpsd

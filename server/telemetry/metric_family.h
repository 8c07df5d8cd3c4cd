// The pieces that metric families are made of: one family, one series, one value.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "prometheus/metric_family.h"

namespace mpsd {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

// A family without series. All functions here are pure.
prometheus::MetricFamily Family(const char* name, const char* help, prometheus::MetricType type);

// One series of a counter or a gauge.
prometheus::ClientMetric CounterMetric(double value, MetricLabels labels = {});
prometheus::ClientMetric GaugeMetric(double value, MetricLabels labels = {});

// A family of one series without labels.
prometheus::MetricFamily SingleCounter(const char* name, const char* help, double value);
prometheus::MetricFamily SingleGauge(const char* name, const char* help, double value);

// A gauge that is always 1: its labels are the information.
prometheus::MetricFamily InfoFamily(const char* name, const char* help, MetricLabels labels);

// The name of a gRPC status code: "NOT_FOUND". REQUIRES: code < kStatusCodes.
std::string CodeName(size_t code);

// Reads a counter or a gauge that other threads write.
double ToDouble(const std::atomic<uint64_t>& value);
double ToDouble(const std::atomic<int64_t>& value);

}  // namespace mpsd

// OtlpMetrics: the figures of /metrics in OTLP, OpenTelemetry's protocol.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prometheus/metric_family.h"

namespace mpsd {

// The families with series as fields of the protobuf message ScopeMetrics: a part of OtlpMessage().
// Counters and histograms are sums since `start_ns`. Both times are since the Unix epoch. Pure.
std::string OtlpMetrics(const std::vector<prometheus::MetricFamily>& families, int64_t start_ns,
                        int64_t now_ns);

}  // namespace mpsd

// OtlpMetrics: the figures of /metrics in OTLP.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prometheus/metric_family.h"

namespace mpsd {

// Fields of the protobuf message ScopeMetrics: a part of OtlpMessage(). Sums are since `start_ns`.
// Both times are since the Unix epoch. Pure.
std::string OtlpMetrics(const std::vector<prometheus::MetricFamily>& families, int64_t start_ns,
                        int64_t now_ns);

}  // namespace mpsd

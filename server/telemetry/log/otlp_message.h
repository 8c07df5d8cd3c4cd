// OtlpMessage: the common form of all messages of OTLP, OpenTelemetry's protocol.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace mpsd {

// Describe the sender ("service.name" and the like), a span, or a figure.
using OtlpAttributes = std::vector<std::pair<std::string, std::string>>;

// Pure.
void PutOtlpAttributes(uint32_t field, const OtlpAttributes& attributes, std::string* out);

// The parts are OtlpSpans() of an ExportTraceServiceRequest, or OtlpMetrics() of an
// ExportMetricsServiceRequest: their fields have the same numbers. Pure.
std::string OtlpMessage(const OtlpAttributes& resource, absl::Span<const std::string> parts);

}  // namespace mpsd

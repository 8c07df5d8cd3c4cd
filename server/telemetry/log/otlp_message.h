// OtlpMessage: the common form of all messages of OTLP, OpenTelemetry's protocol.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace mpsd {

// Names and texts that describe the sender ("service.name" and the like), a span, or a figure.
using OtlpAttributes = std::vector<std::pair<std::string, std::string>>;

// Writes each as a field of that number. Pure.
void PutOtlpAttributes(uint32_t field, const OtlpAttributes& attributes, std::string* out);

// The message that hands parts to a collector. OtlpSpans() makes the parts of an
// ExportTraceServiceRequest, and OtlpMetrics() makes the parts of an ExportMetricsServiceRequest.
// The fields of both have the same numbers. Pure.
std::string OtlpMessage(const OtlpAttributes& resource, absl::Span<const std::string> parts);

}  // namespace mpsd

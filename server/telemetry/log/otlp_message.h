// OtlpMessage: what all messages of OTLP, OpenTelemetry's protocol, have in common.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace mpsd {

// Names and texts: of the sender ("service.name" and the like), of a span, or of a figure.
using OtlpAttributes = std::vector<std::pair<std::string, std::string>>;

// Writes each as a field of that number. Pure.
void PutOtlpAttributes(uint32_t field, const OtlpAttributes& attributes, std::string* out);

// The message that hands parts to a collector. ExportTraceServiceRequest has parts of OtlpSpans(),
// ExportMetricsServiceRequest those of OtlpMetrics(). Their fields have the same numbers. Pure.
std::string OtlpMessage(const OtlpAttributes& resource, absl::Span<const std::string> parts);

}  // namespace mpsd

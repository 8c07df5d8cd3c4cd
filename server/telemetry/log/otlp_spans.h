// OtlpSpans: spans in OTLP, OpenTelemetry's protocol, as JSON for files or as protobuf for
// collectors.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/telemetry/log/ended_request.h"
#include "server/telemetry/log/trace_spans.h"

namespace mpsd {

// The sender of spans: "service.name" and the like.
using OtlpResource = std::vector<std::pair<std::string, std::string>>;

// A request's spans as a line of JSON, which is a message by itself. Pure.
std::string OtlpLine(const EndedRequest& request, const std::vector<TraceSpan>& spans);

// A request's spans as fields of the protobuf message ScopeSpans. Pure.
std::string OtlpSpans(const EndedRequest& request, const std::vector<TraceSpan>& spans);

// The protobuf message ExportTraceServiceRequest with the spans of several requests, each as
// OtlpSpans() wrote them. Pure.
std::string OtlpMessage(const OtlpResource& resource, absl::Span<const std::string> requests);

}  // namespace mpsd

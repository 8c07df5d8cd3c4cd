// OtlpSpans: spans in OTLP, as JSON for files or as protobuf for collectors.
#pragma once

#include <string>
#include <vector>

#include "server/telemetry/log/ended_request.h"
#include "server/telemetry/log/trace_spans.h"

namespace mpsd {

// The request's spans as a line of JSON, which is a message by itself. Pure.
std::string OtlpLine(const EndedRequest& request, const std::vector<TraceSpan>& spans);

// The same as fields of the protobuf message ScopeSpans. Pure.
std::string OtlpSpans(const EndedRequest& request, const std::vector<TraceSpan>& spans);

}  // namespace mpsd

// TraceSpans: the spans of a traced request that has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/telemetry/log/ended_request.h"

namespace mpsd {

// The limit of names and ids, which clients choose.
inline constexpr size_t kSpanTextBytes = 512;

// Times are in nanoseconds since the Unix epoch. A value.
struct TraceSpan {
  std::string name;
  std::string id;
  std::string parent_id;  // empty: the trace begins here
  int64_t begin_ns;
  int64_t end_ns;
};

// Cut, and with U+FFFD for bytes that are not UTF-8. Pure.
std::string SpanText(absl::string_view text);

// `ids` are for the stages. REQUIRES: the request has a span. Pure.
std::vector<TraceSpan> SpansOf(const EndedRequest& request, const std::string ids[4]);

// A line of JSON for each span. Pure.
std::string SpanLines(const EndedRequest& request, const std::vector<TraceSpan>& spans);

}  // namespace mpsd

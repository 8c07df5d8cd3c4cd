// TraceSpans: the spans of a traced request that has ended, and their lines in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/telemetry/log/ended_request.h"

namespace mpsd {

// Clients choose names and ids of any length; a span has so many bytes of each.
inline constexpr size_t kSpanTextBytes = 512;

// One span, in nanoseconds since the Unix epoch. A value.
struct TraceSpan {
  std::string name;
  std::string id;
  std::string parent_id;  // empty: the trace begins here
  int64_t begin_ns;
  int64_t end_ns;
};

// The text as spans have it: cut, and with U+FFFD for bytes that are not UTF-8. Pure.
std::string SpanText(absl::string_view text);

// The request's own span, and the spans of its stages, which get ids. REQUIRES: the request has a
// span. Pure.
std::vector<TraceSpan> SpansOf(const EndedRequest& request, const std::string ids[4]);

// A JSON object for each span, each a line. Pure.
std::string SpanLines(const EndedRequest& request, const std::vector<TraceSpan>& spans);

}  // namespace mpsd

#include "server/telemetry/log/trace_spans.h"

#include <array>

#include "nlohmann/json.hpp"
#include "proto/base/string_views.h"
#include "proto/base/utf8.h"
#include "server/telemetry/log/log_line.h"
#include "server/telemetry/stage_exemplars.h"

namespace mpsd {

std::string SpanText(absl::string_view text) {
  return WithoutBadBytes(CutAtCharacter(text, kSpanTextBytes));
}

std::vector<TraceSpan> SpansOf(const EndedRequest& request, const std::string ids[4]) {
  const RequestSpan& own = *request.span;
  std::vector<TraceSpan> spans = {{SpanText(own.name()), own.id, own.parent_id,
                                   request.arrival_ns + own.to_unix_ns,
                                   request.ended_ns + own.to_unix_ns}};
  if (!request.ran()) return spans;
  const std::array<int64_t, 5> times = request.times();
  for (size_t i = 0; i < kStageNames.size(); ++i) {
    spans.push_back(
        {kStageNames[i], ids[i], own.id, times[i] + own.to_unix_ns, times[i + 1] + own.to_unix_ns});
  }
  return spans;
}

std::string SpanLines(const EndedRequest& request, const std::vector<TraceSpan>& spans) {
  std::string lines;
  for (const TraceSpan& span : spans) {
    nlohmann::ordered_json line;
    line["trace_id"] = request.span->trace_id;
    line["span_id"] = span.id;
    line["parent_id"] = span.parent_id;
    line["name"] = span.name;
    line["begin_ns"] = span.begin_ns;
    line["end_ns"] = span.end_ns;
    line["model"] = SpanText(View(request.model));
    line["version"] = SpanText(View(request.version));
    line["id"] = SpanText(View(request.id));
    line["code"] = SpanText(View(request.code));
    if (!lines.empty()) lines.push_back('\n');
    lines += OneLine(line);
  }
  return lines;
}

}  // namespace mpsd

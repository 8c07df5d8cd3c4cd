// HttpAnswer: the pages for monitors: metrics and probes.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/telemetry/http/health_source.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

// A value.
struct HttpAnswer {
  int code = 200;
  const char* content_type = "text/plain; charset=utf-8";
  std::string body;
};

// The answer to a GET that the gate has let in. /metrics gives the page, as OpenMetrics if `accept`
// names that form. /livez and /readyz give the state as text. Under /v2/health the state is JSON.
// Other paths are 404. Thread-safe.
HttpAnswer AnswerTo(absl::string_view path, absl::string_view accept, const MetricsPage& page,
                    HealthSource* health);

}  // namespace mpsd

// HttpAnswer: what the admin port answers to one request, without the transport.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/telemetry/http/health_source.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

// A value.
struct HttpAnswer {
  int code = 200;
  const char* reason = "OK";
  const char* content_type = "text/plain; charset=utf-8";
  std::string body;
  const char* header = "";  // one more line of the head, with its line break
};

// The answer to an allowed request: the page for /metrics, the state of `health` for the probes,
// 404 for another path, 405 for a method other than GET and HEAD. A HEAD has the body of its GET.
HttpAnswer AnswerTo(absl::string_view method, absl::string_view path, const MetricsPage& page,
                    HealthSource* health);

// The answer to a request that the gate refused: 401 or 403. REQUIRES: not kAllowed.
HttpAnswer RefusalAnswer(Verdict verdict);

}  // namespace mpsd

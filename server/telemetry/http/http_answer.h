// HttpAnswer: what the admin port answers to one request, without the transport.
//
// All that is decided about a request once it was read: the path, the method, the gate's verdict go
// in, a value comes out. HttpServer reads, asks the gate and sends.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/telemetry/http/health_source.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

// A value. The texts but for the body are constants.
struct HttpAnswer {
  int code = 200;
  const char* reason = "OK";
  const char* content_type = "text/plain; charset=utf-8";
  std::string body;
  const char* header = "";  // one more line of the head, with its line break
};

// The answer to a request that the gate has let in: the page for /metrics, the state of `health`
// for the probes, 404 for another path, 405 for a method other than GET and HEAD. A HEAD has the
// body of its GET.
HttpAnswer AnswerTo(absl::string_view method, absl::string_view path, const MetricsPage& page,
                    HealthSource* health);

// The answer to a request that the gate refused: 401 with the way to authenticate, or 403. The same
// for a path that does not exist, so that asking tells no path. REQUIRES: not kAllowed.
HttpAnswer RefusalAnswer(Verdict verdict);

}  // namespace mpsd

// RequestEnding: why a request ends before its answer, and how its ending is counted, traced and
// logged.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/telemetry/log/request_log.h"
#include "server/telemetry/log/trace_log.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/request_span.h"
#include "server/wire/trace_context.h"

namespace mpsd {

// A request ends once (Reply). The exchange calls CountEnding() and TellEnding() on the thread that
// gives the ending, before the transport sends it: a client that has its answer finds it in the
// statistics of its next call. Both only note; neither can change an ending or fail.

// The logs that the config asks for; null where it asks for none. The daemon owns them, and they
// outlive every exchange. A log that cannot keep up loses lines and counts them; it holds up no
// request. Constant. Thread-safe.
struct RequestObservers {
  TraceLog* traces = nullptr;
  RequestLog* requests = nullptr;

  // The span of a request to the model, whose caller gave `context`; null where it is not traced.
  // Asked once, when the request was read, since it counts towards the rate.
  std::unique_ptr<const RequestSpan> BeginSpan(absl::string_view model,
                                               const TraceContext& context) const;
};

// DEADLINE_EXCEEDED from the request's deadline on. Asked when a message is about to be read, and
// again when it was inflated first, so that no work is done for a request that nobody awaits; from
// admission on the queue watches the deadline. Thread-safe.
absl::Status CheckInTime(const Request& request, int64_t now_ns);

// CANCELLED, for a request whose client left before the request was admitted. Thread-safe.
absl::Status CallCancelled();

// Counts the ending by its code. What it counts for depends on how far the request came:
//
//   refused before its model was found  the server
//   refused before a queue took it      the model's codes, and no statistic of the model
//   admitted, ended without an answer   the model's codes, and a failure of the model
//   answered by the model               the model's codes, and no failure, even if the answer could
//                                       not be given: AnswerStep has counted the answer
//
// Thread-safe.
void CountEnding(const Request& request, absl::StatusCode code, ServerMetrics* server,
                 const Clock* clock);

// Writes the spans, where the request has one, and the line of the request log, where there is
// one. The message's names may be empty: the request was then refused before it was read, and not
// traced. Takes no time where neither log is on. Thread-safe.
void TellEnding(const Request& request, const InferMessage& message, absl::StatusCode code,
                const TraceContext& context, const RequestObservers& observers, const Clock* clock);

}  // namespace mpsd

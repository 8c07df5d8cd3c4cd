// RequestEnding: why a request ends before its answer, and how its ending is counted, traced and
// logged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/bodies/grpc/trace_context.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/request_span.h"

namespace mpsd {

class RequestLog;
class TraceLog;

// A request ends once (Reply). The exchange calls CountEnding() and TellEnding() before the
// transport sends the ending, so that a client with an answer finds it in the statistics of its
// next call. Both only record; neither can change an ending or fail.

// The logs that the config asks for; null if it asks for none. The daemon owns them, and they
// outlive every exchange. A log that falls behind drops lines and counts them; it delays no
// request. Constant. Thread-safe.
struct RequestObservers {
  TraceLog* traces = nullptr;
  RequestLog* requests = nullptr;

  // The span of a request to the model, whose caller gave `context`; null if it is not traced.
  // Called once, after the request was read, because it counts towards the rate.
  std::unique_ptr<const RequestSpan> BeginSpan(absl::string_view model,
                                               const TraceContext& context) const;
  // The same for a step of the traced request `whole`.
  std::unique_ptr<const RequestSpan> BeginStep(const RequestSpan& whole,
                                               const std::string& step) const;
};

// DEADLINE_EXCEEDED from the request's deadline on. Called before a message is read, and again
// after it was inflated, so that nobody works on a request that nobody awaits. From admission on
// the queue watches the deadline. Thread-safe.
absl::Status CheckInTime(const Request& request, int64_t now_ns);

// CANCELLED, for a request whose client left before the request was admitted. Thread-safe.
absl::Status CallCancelled();

// Counts the ending by its code. The counters depend on how far the request came:
//
//   refused before its model was found  the server
//   refused before a queue took it      the model's codes, and no statistic of the model
//
//   admitted, ended without an answer   the model's codes, and a failure of the model
//
//   answered by the model               the model's codes, and no failure even if the answer could
//                                       not be given, because AnswerStep has counted it
//
// Thread-safe.
void CountEnding(const Request& request, absl::StatusCode code, ServerMetrics* server,
                 const Clock* clock);

// Writes the spans, if the request has one, and the line of the request log, if there is one. If
// the message's names are empty, the request was refused before it was read, and not traced. Takes
// no time if neither log is on. Thread-safe.
void TellEnding(const Request& request, const InferMessage& message, absl::StatusCode code,
                const TraceContext& context, const RequestObservers& observers, const Clock* clock);

}  // namespace mpsd

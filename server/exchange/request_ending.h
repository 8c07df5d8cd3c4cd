// RequestEnding: how a request's ending is counted, traced and logged.
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

// The exchange calls CountEnding() and TellEnding() before the transport sends the ending, so that
// a client with an answer finds it counted. Neither can fail.

// The logs that the config asks for, or null. The daemon owns them, and they outlive every
// exchange. A log that falls behind drops lines and counts them. Constant. Thread-safe.
struct RequestObservers {
  TraceLog* traces = nullptr;
  RequestLog* requests = nullptr;

  // Null if the request is not traced. `context` is the caller's. Called once, after the request
  // was read, because it counts towards the rate.
  std::unique_ptr<const RequestSpan> BeginSpan(absl::string_view model,
                                               const TraceContext& context) const;
  // For a step of the traced request `whole`.
  std::unique_ptr<const RequestSpan> BeginStep(const RequestSpan& whole,
                                               const std::string& step) const;
};

// DEADLINE_EXCEEDED from the deadline on. Called before a message is read, and after it was
// inflated; from admission on the queue watches. Thread-safe.
absl::Status CheckInTime(const Request& request, int64_t now_ns);

// CANCELLED, for a client that left before admission. Thread-safe.
absl::Status CallCancelled();

// Counts the ending by its code:
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

// Writes the request's spans and its line of the request log, where these are on. Without names in
// the message the request was refused unread, and not traced. Thread-safe.
void TellEnding(const Request& request, const InferMessage& message, absl::StatusCode code,
                const TraceContext& context, const RequestObservers& observers, const Clock* clock);

}  // namespace mpsd

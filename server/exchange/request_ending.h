// RequestEnding: how the ending of a request is counted, traced and logged.
#pragma once

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/telemetry/log/request_log.h"
#include "server/telemetry/log/trace_log.h"
#include "server/telemetry/model_metrics.h"
#include "server/wire/trace_context.h"

namespace mpsd {

// The logs that the config asks for; null where it asks for none. Constant. Thread-safe.
struct RequestObservers {
  TraceLog* traces = nullptr;
  RequestLog* requests = nullptr;

  bool WantTrace(const TraceContext& context) const {
    return traces != nullptr && traces->Wants(context.sampled);
  }
};

// Counts the ending. A request that was refused before its model was found counts for the server.
// One that was never admitted is in no statistic of its model. One that the model has answered is
// no failure of the model, even if the answer could not be given. Called before the ending is sent,
// so that a client that has it finds it counted. Thread-safe.
void CountEnding(const Request& request, absl::StatusCode code, ServerMetrics* server,
                 const Clock* clock);

// Writes the span, where the request is traced, and the line of the request log, where there is
// one. The message's names may be empty. Called before the ending is sent. Thread-safe.
void TellEnding(const Request& request, const InferMessage& message, absl::StatusCode code,
                const TraceContext& context, bool traced, const RequestObservers& observers,
                const Clock* clock);

}  // namespace mpsd

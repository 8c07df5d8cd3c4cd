// CallTrace: what is told of a request besides its answer: spans, and a line in the request log.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/telemetry/log/request_log.h"
#include "server/telemetry/log/trace_log.h"
#include "server/wire/trace_context.h"

namespace mpsd {

// Who is told. Null: nobody asked for it, and nothing is done.
struct CallObservers {
  TraceLog* traces = nullptr;
  RequestLog* requests = nullptr;

  bool WantTrace(const TraceContext& context) const {
    return traces != nullptr && traces->Wants(context.sampled);
  }
};

// The caller's span, which is echoed in the call's initial metadata. To be called once a call, when
// it has arrived and before anything is written.
TraceContext TakeTraceContext(grpc::ServerContext* call);

// To be called when a request has ended and before its answer is sent, so that whoever has the
// answer finds it told. The message's names are empty where it could not be read. Thread-safe.
void TellEnding(const Request& request, const InferMessage& message, absl::StatusCode code,
                const TraceContext& context, bool traced, const CallObservers& observers,
                const Clock* clock);

}  // namespace mpsd

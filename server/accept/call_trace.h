// TakeTraceContext: the span to which a client says its gRPC call belongs.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/wire/trace_context.h"

namespace mpsd {

// Reads the span from the call's header "traceparent", and echoes it in the initial metadata.
// Empty, without an echo, if the header is missing or malformed (ReadTraceparent()); the call goes
// on. InferCall and StreamCall call it once a call, after the arrival and before anything is
// written. The call keeps the result while its requests live, since each reports its span at its
// end. Allocates only if there is a span. Thread-compatible.
TraceContext TakeTraceContext(grpc::ServerContext* call);

}  // namespace mpsd

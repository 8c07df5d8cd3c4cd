// TakeTraceContext: the span that a gRPC call's client says the call belongs to.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/wire/trace_context.h"

namespace mpsd {

// Reads the span from the header "traceparent" of the call's metadata, and echoes it in the call's
// initial metadata. Empty, and nothing is echoed, where the client said none or something that is
// no traceparent: ReadTraceparent() decides, and the call goes on. Called once a call, by InferCall
// and StreamCall, after its arrival and before anything is written. The call keeps the result for
// as long as its requests live, since each of them tells its span when it ends. Allocates only
// where there is a span. Thread-compatible.
TraceContext TakeTraceContext(grpc::ServerContext* call);

}  // namespace mpsd

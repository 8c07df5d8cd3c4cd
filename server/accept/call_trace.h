// TakeTraceContext: the span that a gRPC call's client says the call belongs to.
#pragma once

#include <grpcpp/grpcpp.h>

#include "server/wire/trace_context.h"

namespace mpsd {

// Reads the span from the call's metadata and echoes it in the call's initial metadata. Empty where
// the client said none. Called once a call, after its arrival and before anything is written.
// Thread-compatible.
TraceContext TakeTraceContext(grpc::ServerContext* call);

}  // namespace mpsd

// AddLoadReport: tells callers who ask how loaded this host is, beside the answer to their call.
#pragma once

#include "server/door/grpc_form.h"
#include "server/http/http_call.h"
#include "server/telemetry/load_sampler.h"

namespace mpsd {

// A call asks by the header endpoint-load-metrics-format, and gets what ORCA's clients read:
//
//   call       header    reply
//   HTTP       TEXT      endpoint-load-metrics: TEXT application_utilization=0.5,…
//   HTTP       JSON      endpoint-load-metrics: JSON {…}
//   gRPC       any       endpoint-load-metrics-bin, a trailer
//
// With `names` the report has the models' figures by their names. Does nothing for other calls.
// Called before the reply.
void AddLoadReport(GrpcKind kind, LoadSampler* sampler, bool names, HttpCall* call);

}  // namespace mpsd

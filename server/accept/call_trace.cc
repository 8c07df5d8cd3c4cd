#include "server/accept/call_trace.h"

namespace mpsd {
namespace {

constexpr char kTraceparent[] = "traceparent";

}  // namespace

TraceContext TakeTraceContext(grpc::ServerContext* call) {
  TraceContext context;
  const auto& metadata = call->client_metadata();
  const auto found = metadata.find(kTraceparent);
  if (found == metadata.end()) return context;
  if (ReadTraceparent({found->second.data(), found->second.size()}, &context)) {
    call->AddInitialMetadata(kTraceparent, context.text);
  }
  return context;
}

}  // namespace mpsd

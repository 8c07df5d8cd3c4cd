// TraceOf, EchoTrace: the span to which a client says its request belongs.
#pragma once

#include "server/bodies/grpc/trace_context.h"
#include "server/http/http_reply.h"
#include "server/http/http_request.h"

namespace mpsd {

inline constexpr char kTraceparent[] = "traceparent";

// The span of the request's header; empty if the header is missing or malformed. Pure.
inline TraceContext TraceOf(const HttpRequest& request) {
  TraceContext context;
  ReadTraceparent(request.Header(kTraceparent), &context);
  return context;
}

// Tells the client the span that it has sent, if any.
inline void EchoTrace(const TraceContext& trace, HttpReply* reply) {
  if (!trace.text.empty()) reply->AddHeader(kTraceparent, trace.text);
}

}  // namespace mpsd

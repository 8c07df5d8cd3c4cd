// TraceOf, EchoTrace: the client's span of a request.
#pragma once

#include "server/bodies/grpc/trace_context.h"
#include "server/http/http_reply.h"
#include "server/http/http_request.h"

namespace mpsd {

inline constexpr char kTraceparent[] = "traceparent";

// Empty if the header is missing or malformed. Pure.
inline TraceContext TraceOf(const HttpRequest& request) {
  TraceContext context;
  ReadTraceparent(request.Header(kTraceparent), &context);
  return context;
}

inline void EchoTrace(const TraceContext& trace, HttpReply* reply) {
  if (!trace.text.empty()) reply->AddHeader(kTraceparent, trace.text);
}

}  // namespace mpsd

// ErrorReply: only here a Status becomes an HTTP answer.
#pragma once

#include "absl/status/status.h"
#include "server/bodies/grpc/status_map.h"
#include "server/http/http_reply.h"

namespace mpsd {

// For a status that is not OK:
//
//   400 INVALID_ARGUMENT, ALREADY_EXISTS, OUT_OF_RANGE   403 PERMISSION_DENIED   404 NOT_FOUND
//   401 UNAUTHENTICATED        409 FAILED_PRECONDITION   429 RESOURCE_EXHAUSTED  499 CANCELLED
//   501 UNIMPLEMENTED          503 UNAVAILABLE           504 DEADLINE_EXCEEDED   500 all others
//
// With StatusStyle::kTriton a full queue and a time-out are 503. Pure.
int HttpCodeOf(const absl::Status& status, StatusStyle style);

// {"error": "TEXT"}, the text cut as for gRPC. A `code` other than 0 replaces HttpCodeOf(). A
// RetryInfo becomes Retry-After, in whole seconds, rounded up. Pure.
HttpReply ErrorReply(const absl::Status& status, StatusStyle style, int code = 0);

}  // namespace mpsd

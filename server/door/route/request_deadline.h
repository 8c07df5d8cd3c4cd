// RequestDeadline: when an HTTP request must be answered.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/bodies/grpc/call_deadline.h"

namespace mpsd {

// The header Request-Timeout gives the time in seconds, with an optional fraction:
// "Request-Timeout: 0.25". As for a gRPC call, at most kMaxTimeoutNs counts. Without the header (an
// empty `timeout`) the time is `default_ns`, of which 0 means none. The request's parameter
// "timeout" may shorten the time. INVALID_ARGUMENT for any other value. Pure.
absl::StatusOr<CallDeadline> RequestDeadline(absl::string_view timeout, int64_t now_ns,
                                             int64_t default_ns);

}  // namespace mpsd

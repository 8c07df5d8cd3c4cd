// RequestDeadline: when a request of HTTP must be answered.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/wire/call_deadline.h"

namespace mpsd {

// The header Request-Timeout gives the time in seconds, with a fraction where one is wanted:
// "Request-Timeout: 0.25". As for a call of gRPC, at most kMaxTimeoutNs counts; without the header
// (an empty `timeout`) it is `default_ns`, and 0 of that stands for none. The request's parameter
// "timeout" may bring the deadline forward. INVALID_ARGUMENT for what is no such number. Pure.
absl::StatusOr<CallDeadline> RequestDeadline(absl::string_view timeout, int64_t now_ns,
                                             int64_t default_ns);

}  // namespace mpsd

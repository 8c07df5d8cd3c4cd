// RequestDeadline: when an HTTP request must be answered.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/bodies/grpc/call_deadline.h"

namespace mpsd {

// "Request-Timeout: 0.25" gives the seconds; at most kMaxTimeoutNs count. Without the
// header (an empty `timeout`) it is `default_ns`; 0: none. INVALID_ARGUMENT for any other value.
// Pure.
absl::StatusOr<CallDeadline> RequestDeadline(absl::string_view timeout, int64_t now_ns,
                                             int64_t default_ns);

}  // namespace mpsd

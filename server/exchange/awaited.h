// CheckInTime and CallCancelled: what a request is told that nobody awaits any more.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/request/request.h"

namespace mpsd {

// DEADLINE_EXCEEDED from the request's deadline on. Thread-safe.
absl::Status CheckInTime(const Request& request, int64_t now_ns);

// CANCELLED, for a request whose client left before the request was admitted. Thread-safe.
absl::Status CallCancelled();

}  // namespace mpsd

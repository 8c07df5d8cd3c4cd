// A gRPC call's deadline on our clock, and what a request is told that comes after it, or that
// nobody waits for any more.
#pragma once

#include <grpc/support/time.h>

#include <cstdint>

#include "absl/status/status.h"
#include "server/request/request.h"

namespace mpsd {

// The deadline that a client gave its call, in the time of Clock::NowNs(): the default where it has
// given none, never beyond the cap. Thread-safe.
int64_t MonotonicDeadlineNs(gpr_timespec deadline, int64_t now_ns);

// DEADLINE_EXCEEDED for a request whose bytes are there too late: they are not looked at.
// Thread-safe.
absl::Status CheckInTime(const Request& request, int64_t now_ns);

// CANCELLED, for a request whose call is over before it was admitted. Thread-safe.
absl::Status CallCancelled();

}  // namespace mpsd

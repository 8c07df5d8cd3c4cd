// MonotonicDeadlineNs: a gRPC call's deadline on our clock.
#pragma once

#include <grpc/support/time.h>

#include <cstdint>

namespace mpsd {

// The deadline that a client gave its call, in the time of Clock::NowNs(): the default where it has
// given none, never beyond the cap. Thread-safe.
int64_t MonotonicDeadlineNs(gpr_timespec deadline, int64_t now_ns);

}  // namespace mpsd

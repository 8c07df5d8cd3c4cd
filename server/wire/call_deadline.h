// MonotonicDeadlineNs: a gRPC call's deadline on our clock.
#pragma once

#include <grpc/support/time.h>

#include <cstdint>

namespace mpsd {

// The deadline of a call, in the time of Clock::NowNs(). The default where the client gave none;
// never more than the longest timeout from `now_ns`. Thread-safe.
int64_t MonotonicDeadlineNs(gpr_timespec deadline, int64_t now_ns);

}  // namespace mpsd

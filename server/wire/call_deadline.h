// MonotonicDeadlineNs: a gRPC call's deadline on our clock.
#pragma once

#include <grpc/support/time.h>

#include <cstdint>

namespace mpsd {

// The deadline of a call, in the time of Clock::NowNs(), which all steps of a request compare with.
// Asked once a call, when it arrives. A monotonic time does not move when an operator sets the wall
// clock.
//
//   the client gave none      kDefaultTimeoutNs from now, 30 s
//   more than 300 s from now  kMaxTimeoutNs from now, so that no request is held for ever
//   any other                 that moment, which may have passed: the request is refused then
//
// A request's parameter "timeout" may bring its own deadline forward (Admission). Thread-safe.
int64_t MonotonicDeadlineNs(gpr_timespec deadline, int64_t now_ns);

}  // namespace mpsd

// CallDeadline: a gRPC call's deadline on our clock.
#pragma once

#include <grpc/support/time.h>

#include <cstdint>

namespace mpsd {

// A value. A request's parameter "timeout" may make its own deadline earlier (Admission).
struct CallDeadline {
  int64_t at_ns = 0;        // as Clock::NowNs()
  int64_t patience_ns = 0;  // Request::patience_ns: time limit per answer; 0: until `at_ns`
};

// A time that no clock reaches, small enough to add to.
inline constexpr int64_t kNoDeadlineNs = INT64_MAX / 2;

// The deadline of a call whose client has set none. Pure.
CallDeadline DefaultDeadline(int64_t now_ns, int64_t default_ns);

// The deadline of a call, for all steps of its requests. Computed once, on arrival. Setting the
// wall clock does not move it.
//
//   none from the client      DefaultDeadline(): `default_ns` from now, and again from each
//                             answer of several; 0: kNoDeadlineNs
//
//   more than 300 s from now  kMaxTimeoutNs from now, so that no request is held for ever
//
//   any other                 that time, minus 1 ms or a quarter of the rest, because gRPC may have
//                             rounded it up. If it has passed, the request is refused
//
// Thread-safe.
CallDeadline MonotonicDeadline(gpr_timespec deadline, int64_t now_ns, int64_t default_ns);

// Whether the deadline that a client gave has passed. Thread-safe.
bool HasPassed(gpr_timespec deadline);

}  // namespace mpsd

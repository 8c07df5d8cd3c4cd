// CallDeadline: a gRPC call's deadline on our clock.
#pragma once

#include <grpc/support/time.h>

#include <cstdint>

namespace mpsd {

// A value. A request's parameter "timeout" may bring its own deadline forward (Admission).
struct CallDeadline {
  int64_t at_ns = 0;        // in the time of Clock::NowNs()
  int64_t patience_ns = 0;  // Request::patience_ns: how long each answer may take; 0: until `at_ns`
};

// A moment that no clock reaches, with room for sums.
inline constexpr int64_t kNoDeadlineNs = INT64_MAX / 2;

// The deadline of a call, which all steps of a request compare with. Asked once a call, when it
// arrives. A monotonic time does not move when an operator sets the wall clock.
//
//   the client gave none      `default_ns` from now, and from each answer on, where a request has
//                             several; 0: kNoDeadlineNs
//   more than 300 s from now  kMaxTimeoutNs from now, so that no request is held for ever
//   any other                 that moment, less what gRPC has rounded it up by at most: 1 ms, or a
//                             quarter of what is left. It may have passed: the request is refused
//
// Thread-safe.
CallDeadline MonotonicDeadline(gpr_timespec deadline, int64_t now_ns, int64_t default_ns);

}  // namespace mpsd

// pump_clock: the time of client threads, as they and gRPC count it.
#pragma once

#include <grpc/support/time.h>

#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd::load {

// How long a thread waits for an answer before it looks at the clock again.
inline constexpr int64_t kPollNs = 20 * kNsPerMs;

inline int64_t NowNs() { return Clock::Real()->NowNs(); }

inline gpr_timespec MonotonicTime(int64_t ns_from_now) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(ns_from_now, GPR_TIMESPAN));
}

}  // namespace mpsd::load

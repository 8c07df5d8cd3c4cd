#include "server/wire/call_deadline.h"

#include <algorithm>

#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

// gRPC counts deadlines in whole milliseconds and rounds up.
constexpr int64_t kGrainNs = 1'000'000;

}  // namespace

CallDeadline DefaultDeadline(int64_t now_ns, int64_t default_ns) {
  if (default_ns == 0) return {kNoDeadlineNs, 0};
  return {now_ns + default_ns, default_ns};
}

CallDeadline MonotonicDeadline(gpr_timespec deadline, int64_t now_ns, int64_t default_ns) {
  const bool none = gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0;
  if (none) return DefaultDeadline(now_ns, default_ns);
  const gpr_timespec left = gpr_time_sub(gpr_convert_clock_type(deadline, GPR_CLOCK_MONOTONIC),
                                         gpr_now(GPR_CLOCK_MONOTONIC));
  if (left.tv_sec >= kMaxTimeoutNs / kNsPerSecond) return {now_ns + kMaxTimeoutNs, 0};
  const int64_t left_ns = left.tv_sec * kNsPerSecond + left.tv_nsec;
  return {now_ns + left_ns - std::clamp(left_ns / 4, int64_t{0}, kGrainNs), 0};
}

bool HasPassed(gpr_timespec deadline) {
  const gpr_timespec now = gpr_now(GPR_CLOCK_MONOTONIC);
  return gpr_time_cmp(gpr_convert_clock_type(deadline, GPR_CLOCK_MONOTONIC), now) <= 0;
}

}  // namespace mpsd

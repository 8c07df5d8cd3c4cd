#include "server/wire/call_deadline.h"

#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {

int64_t MonotonicDeadlineNs(gpr_timespec deadline, int64_t now_ns) {
  const gpr_timespec left = gpr_time_sub(gpr_convert_clock_type(deadline, GPR_CLOCK_MONOTONIC),
                                         gpr_now(GPR_CLOCK_MONOTONIC));
  const int64_t cap_ns = now_ns + kMaxTimeoutNs;
  if (left.tv_sec >= kMaxTimeoutNs / kNsPerSecond) {
    const bool none = gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0;
    return none ? now_ns + kDefaultTimeoutNs : cap_ns;
  }
  return now_ns + left.tv_sec * kNsPerSecond + left.tv_nsec;
}

}  // namespace mpsd

#include "server/door/route/request_deadline.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {

absl::StatusOr<CallDeadline> RequestDeadline(absl::string_view timeout, int64_t now_ns,
                                             int64_t default_ns) {
  if (timeout.empty()) return DefaultDeadline(now_ns, default_ns);
  double seconds = 0;
  if (!absl::SimpleAtod(timeout, &seconds) || !std::isfinite(seconds) || seconds < 0) {
    return absl::InvalidArgumentError("Request-Timeout must be a number of seconds");
  }
  const double most = static_cast<double>(kMaxTimeoutNs) / kNsPerSecond;
  return CallDeadline{now_ns + static_cast<int64_t>(std::min(seconds, most) * kNsPerSecond), 0};
}

}  // namespace mpsd

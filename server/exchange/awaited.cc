#include "server/exchange/awaited.h"

namespace mpsd {

absl::Status CheckInTime(const Request& request, int64_t now_ns) {
  if (request.deadline_ns > now_ns) return absl::OkStatus();
  return absl::DeadlineExceededError("Request timeout expired");
}

absl::Status CallCancelled() { return absl::CancelledError("Request was cancelled"); }

}  // namespace mpsd

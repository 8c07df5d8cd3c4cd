#include "server/parts/join_room.h"

#include "server/request/retry_info.h"

namespace mpsd {

absl::Status JoinRoom::Take(uint64_t bytes) {
  if (bytes > bytes_max_ - taken_) {
    return absl::ResourceExhaustedError(
        "the outputs of all rows together are larger than the largest message, limits.message");
  }
  if (!allowance_->TryTake(bytes)) {
    return Busy("too many bytes of answers wait for other parts of their requests");
  }
  taken_ += bytes;
  return absl::OkStatus();
}

}  // namespace mpsd

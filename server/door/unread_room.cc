#include "server/door/unread_room.h"

#include <optional>
#include <utility>

#include "proto/base/limits.h"
#include "server/request/retry_info.h"

namespace mpsd {

absl::Status HoldUnread(const DoorContext& context, const std::string& peer, size_t bytes,
                        std::shared_ptr<void>* held) {
  if (bytes <= kCopiedReplyBytes) return absl::OkStatus();
  std::optional<UnreadCopies::Room> room =
      context.unread->Take(peer, bytes, context.exchange.clock->NowNs());
  if (!room.has_value()) return Busy("too many answers have not been read by their clients");
  *held = std::make_shared<UnreadCopies::Room>(*std::move(room));
  return absl::OkStatus();
}

}  // namespace mpsd

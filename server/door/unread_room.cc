#include "server/door/unread_room.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "proto/base/limits.h"
#include "server/bodies/grpc/unread_copies.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

struct HeldRoom {
  UnreadCopies::Room room;
  std::shared_ptr<void> pin;
};

}  // namespace

std::shared_ptr<void> Pin(const Answer& answer) {
  const bool has_large = absl::c_any_of(answer.outputs, [](const AnswerOutput& output) {
    return output.bytes.size() > kCopiedReplyBytes && output.region.name.empty();
  });
  if (!has_large || answer.memory == nullptr || !answer.memory->TryPin()) return nullptr;
  answer.memory->Ref();
  return {answer.memory, [](AnswerMemory* memory) { memory->Unref(); }};
}

absl::Status HoldUnread(const DoorContext& context, const std::string& peer, size_t bytes,
                        std::shared_ptr<void>* held) {
  if (bytes <= kCopiedReplyBytes) return absl::OkStatus();
  std::optional<UnreadCopies::Room> room =
      context.unread->Take(peer, bytes, context.exchange.clock->NowNs());
  if (!room.has_value()) return Busy("too many answers have not been read by their clients");
  *held = std::make_shared<HeldRoom>(HeldRoom{*std::move(room), std::move(*held)});
  return absl::OkStatus();
}

}  // namespace mpsd

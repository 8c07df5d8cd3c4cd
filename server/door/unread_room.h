// HoldUnread: counts a large answer as unread until its client has taken it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/door/door_context.h"

namespace mpsd {

// Room for an answer of so many bytes to the client, until `held` is released. Small answers need
// none. RESOURCE_EXHAUSTED if clients have left too many answers unread. Thread-safe.
absl::Status HoldUnread(const DoorContext& context, const std::string& peer, size_t bytes,
                        std::shared_ptr<void>* held);

}  // namespace mpsd

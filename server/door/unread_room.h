// HoldUnread, Pin: the memory of a large answer until its client has taken it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/door/door_context.h"
#include "server/request/reply.h"

namespace mpsd {

// Keeps the memory that a worker wrote, so that large outputs need no copy. Null if there is none,
// or clients have left too much unread. Thread-safe.
std::shared_ptr<void> Pin(const Answer& answer);

// Counts so many copied bytes until `held` is released; `held` keeps what it held.
// RESOURCE_EXHAUSTED if clients have left too much unread. Thread-safe.
absl::Status HoldUnread(const DoorContext& context, const std::string& peer, size_t bytes,
                        std::shared_ptr<void>* held);

}  // namespace mpsd

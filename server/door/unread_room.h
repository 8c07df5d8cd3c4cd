// HoldUnread, Pin: the memory of a large answer until its client has taken it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/door/door_context.h"
#include "server/request/reply.h"

namespace mpsd {

// Keeps the memory in which a worker wrote the answer, until the result is released. So its large
// outputs need no copy. Null if it has none, or clients have left too much of the worker's memory
// unread. Thread-safe.
std::shared_ptr<void> Pin(const Answer& answer);

// Room for an answer of so many copied bytes to the client, until `held` is released, which goes on
// holding what it held. Small answers need none. RESOURCE_EXHAUSTED if clients have left too many
// answers unread. Thread-safe.
absl::Status HoldUnread(const DoorContext& context, const std::string& peer, size_t bytes,
                        std::shared_ptr<void>* held);

}  // namespace mpsd

// InflateBounds: bounds of all inflated messages.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/request/held_bytes.h"
#include "server/request/retry_info.h"

namespace mpsd {

// Two limits hold for every message:
//   1. One message has at most `message_bytes` plain bytes, limits.message.
//   2. All that are held have at most what the ledger allows, limits.buffered. One client may have
//      half of that, or one message.
// The ledger outlives its users. Thread-safe.
struct InflateBounds {
  uint64_t message_bytes = 0;
  HeldBytes* held = nullptr;
};

// With a time to retry. Pure.
inline absl::Status TooManyInflated() {
  return Busy("too many compressed messages are being inflated");
}

}  // namespace mpsd

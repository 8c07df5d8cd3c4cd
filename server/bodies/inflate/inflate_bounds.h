// InflateBounds: the bounds shared by all inflated messages.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/request/held_bytes.h"
#include "server/request/retry_info.h"

namespace mpsd {

// Two limits hold for every message:
//   1. One message has at most `message_bytes` plain bytes, limits.message.
//   2. All inflated messages still held have at most as many bytes as the ledger `held` allows,
//      limits.buffered. One client may have half of that, or one message.
// The ledger outlives its users. A value. Thread-safe.
struct InflateBounds {
  uint64_t message_bytes = 0;
  HeldBytes* held = nullptr;
};

// RESOURCE_EXHAUSTED, with a time to retry: the ledger has no room. Pure.
inline absl::Status TooManyInflated() {
  return Busy("too many compressed messages are being inflated");
}

}  // namespace mpsd

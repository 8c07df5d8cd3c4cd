// InflateBounds: the bounds shared by inflated messages of all transports.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/request/held_bytes.h"
#include "server/request/retry_info.h"

namespace mpsd {

// The largest plain message, and the ledger of all plain bytes still held, which outlives its
// users. A value. Thread-safe.
struct InflateBounds {
  uint64_t message_bytes = 0;
  HeldBytes* held = nullptr;
};

// RESOURCE_EXHAUSTED, with a time to retry: the ledger has no room. Pure.
inline absl::Status TooManyInflated() {
  return Busy("too many compressed messages are being inflated");
}

}  // namespace mpsd

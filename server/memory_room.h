// LimitsWithin: bounds of the front end's own memory on a small host, or in a small cgroup. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "server/config/limits_config.h"

namespace mpsd {

// Each of the four below gets at most one of so many parts of the memory that is left at the start.
// The other half is for the models and their workers.
inline constexpr uint64_t kMemoryParts = 8;
inline constexpr uint64_t kLeastPartBytes = 8ULL << 20;

// Clients decide how full these become: messages that arrive over gRPC, those that are inflated,
// bodies over HTTP, and answers that nobody reads. Where they could take more than there is, the
// kernel would end the front end, and with it everything. So they get less than the config allows,
// and what they cannot hold is refused. Never more than the config allows.
inline LimitsConfig LimitsWithin(LimitsConfig limits, uint64_t left_bytes) {
  const uint64_t part_bytes = std::max(left_bytes / kMemoryParts, kLeastPartBytes);
  limits.buffered_bytes = std::min(limits.buffered_bytes, part_bytes);
  limits.unread_copy_bytes = std::min(limits.unread_copy_bytes, part_bytes);
  limits.message_bytes = std::min(limits.message_bytes, limits.buffered_bytes);
  return limits;
}

// The most that clients can make the front end hold under these limits.
inline uint64_t ClientsMemoryBytes(const LimitsConfig& limits) {
  return 3 * limits.buffered_bytes + limits.unread_copy_bytes;
}

}  // namespace mpsd

// LimitsWithin: bounds of the front end's memory on a small host or in a small cgroup. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "server/config/limits_config.h"

namespace mpsd {

// Each of the four limits below gets at most one of this many parts of the memory left at the
// start. The other half is for the models and workers.
inline constexpr uint64_t kMemoryParts = 8;
inline constexpr uint64_t kLeastPartBytes = 8ULL << 20;

// Clients decide how full these become: bodies that arrive, messages that are inflated, and unread
// answers. If they could exceed the memory, the kernel would end the front end, and everything with
// it. So they get less than the config allows, and what they cannot hold is refused. Never more
// than the config allows.
inline LimitsConfig LimitsWithin(LimitsConfig limits, uint64_t left_bytes) {
  const uint64_t part_bytes = std::max(left_bytes / kMemoryParts, kLeastPartBytes);
  limits.buffered_bytes = std::min(limits.buffered_bytes, part_bytes);
  limits.unread_copy_bytes = std::min(limits.unread_copy_bytes, part_bytes);
  limits.message_bytes = std::min(limits.message_bytes, limits.buffered_bytes);
  return limits;
}

// Limit of what clients can make the front end hold.
inline uint64_t ClientsMemoryBytes(const LimitsConfig& limits) {
  return 3 * limits.buffered_bytes + limits.unread_copy_bytes;
}

}  // namespace mpsd

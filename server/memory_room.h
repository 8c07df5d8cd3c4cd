// LimitsWithin: bounds of the front end's memory on a small host. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "server/config/limits_config.h"

namespace mpsd {

// Each limit below gets at most one of so many parts of the memory left at the start. Clients fill
// four parts (ClientsMemoryBytes()); the other half is for models and workers.
inline constexpr uint64_t kMemoryParts = 8;
inline constexpr uint64_t kLeastPartBytes = 8ULL << 20;

// Clients decide how full these become. Beyond the memory the kernel would end the front end, so
// they get less than the config allows, never more.
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

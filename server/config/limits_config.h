// LimitsConfig: the daemon's bounds that a config may set, by limit_rows.inc.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {

// The kind decides the member's type, its unit, and how a value is read.
enum class LimitKind {
  kSize,        // bytes: "64MiB"
  kSizeOrAuto,  // "auto" is the default, and 0 here
  kBufferSize,  // at least limits.message; "auto" follows it
  kDuration,    // nanoseconds: "30s"
  kCount,       // 128
  kFlag,        // true
};

// uint64_t unless a specialization names another.
template <LimitKind kKind>
struct LimitValueOf {
  using Type = uint64_t;
};
template <>
struct LimitValueOf<LimitKind::kDuration> {
  using Type = int64_t;
};
template <>
struct LimitValueOf<LimitKind::kCount> {
  using Type = uint32_t;
};
template <>
struct LimitValueOf<LimitKind::kFlag> {
  using Type = bool;
};

// For limit_rows.inc.
inline constexpr uint64_t kKiB = 1ULL << 10;
inline constexpr uint64_t kMiB = 1ULL << 20;
inline constexpr uint64_t kGiB = 1ULL << 30;
inline constexpr uint64_t kTiB = 1ULL << 40;
inline constexpr int64_t kNsPerHour = 3600 * kNsPerSecond;

// A value, part of Config, with a member for each row:
//
//   uint64_t message_bytes = 64 * kMiB;
//
// If `shared_memory_bytes` is 0 ("auto"), the supervisor asks the host and its cgroup. The defaults
// fit each other: `buffered_bytes` is at least `message_bytes`, and a queue holds the largest
// message.
struct LimitsConfig {
#define MPSD_LIMIT(key, member, kind, initial, ...) \
  LimitValueOf<LimitKind::kind>::Type member = initial;
#include "server/config/limit_rows.inc"
#undef MPSD_LIMIT

  bool operator==(const LimitsConfig&) const = default;
};

static_assert(kDefaultQueueBytes >= LimitsConfig().message_bytes, "one legal request always fits");

}  // namespace mpsd

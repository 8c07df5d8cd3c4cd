// LimitsConfig: the daemon's bounds that a config may set.
//
// Every resource that a client can use up has a bound. A model's bounds are in its ModelConfig
// (`queue.…`), bounds that no config may change in proto/base/limits.h. The table of the limits
// here is limit_rows.inc; limit_keys.h says what mpsd knows about a row.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {

// The unit of a limit, and how the config writes it. The kind alone decides the member's type and
// how a value is read.
enum class LimitKind {
  kSize,        // bytes: "64MiB"
  kSizeOrAuto,  // as kSize; "auto" is the default, and is 0 here
  kBufferSize,  // as kSize, at least limits.message; "auto" follows limits.message
  kDuration,    // nanoseconds: "30s"
  kCount,       // 128
  kFlag,        // true
};

// The type that holds a limit of a kind: uint64_t unless a specialization names another.
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

// The units of the numbers in limit_rows.inc.
inline constexpr uint64_t kKiB = 1ULL << 10;
inline constexpr uint64_t kMiB = 1ULL << 20;
inline constexpr uint64_t kGiB = 1ULL << 30;
inline constexpr uint64_t kTiB = 1ULL << 40;
inline constexpr int64_t kNsPerHour = 3600 * kNsPerSecond;

// A value, part of Config. Has a member with its default for each row of limit_rows.inc, such as
//
//   uint64_t message_bytes = 64 * kMiB;
//   int64_t drain_timeout_ns = 30 * kNsPerSecond;
//   uint32_t streams = 128;
//
// If `shared_memory_bytes` is 0 ("auto"), the supervisor asks the host and its cgroup. The defaults
// fit each other: `buffered_bytes` is at least `message_bytes`, and a queue's default holds the
// largest message.
struct LimitsConfig {
#define MPSD_LIMIT(key, member, kind, initial, ...) \
  LimitValueOf<LimitKind::kind>::Type member = initial;
#include "server/config/limit_rows.inc"
#undef MPSD_LIMIT

  bool operator==(const LimitsConfig&) const = default;
};

static_assert(kDefaultQueueBytes >= LimitsConfig().message_bytes, "one legal request always fits");

}  // namespace mpsd

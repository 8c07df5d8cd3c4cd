// LimitsConfig: the bounds of the whole daemon that a config may set.
//
// Every resource that a client can use up has a bound. Those of the daemon as a whole stand here,
// those of one model in its ModelConfig (`queue.…`), and those that no config may change in
// proto/base/limits.h. limit_rows.inc is the table of those here, limit_keys.h what mpsd knows of a
// row.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {

// What a limit measures, and how the config writes it. The kind alone decides the type of the
// member and the way in which a value is read.
enum class LimitKind {
  kSize,        // bytes: "64MiB"
  kSizeOrAuto,  // likewise; "auto" is the default, and stays 0 here
  kBufferSize,  // likewise, at least limits.message; "auto" follows limits.message
  kDuration,    // nanoseconds: "30s"
  kCount,       // 128
  kFlag,        // true
};

// The type that holds a limit of a kind: uint64_t where no other is named.
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

// The units in which limit_rows.inc writes its numbers.
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
// 0 of `shared_memory_bytes` is "auto"; the supervisor then asks the host and its cgroup. Limits
// that were not read from a config hold the defaults, which are sound together: `buffered_bytes` is
// at least `message_bytes`, and a queue's default holds the largest message.
struct LimitsConfig {
#define MPSD_LIMIT(key, member, kind, initial, ...) \
  LimitValueOf<LimitKind::kind>::Type member = initial;
#include "server/config/limit_rows.inc"
#undef MPSD_LIMIT

  bool operator==(const LimitsConfig&) const = default;
};

static_assert(kDefaultQueueBytes >= LimitsConfig().message_bytes, "one legal request always fits");

}  // namespace mpsd

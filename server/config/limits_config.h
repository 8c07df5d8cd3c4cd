// LimitsConfig: the bounds of the whole daemon that a config may set.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "proto/base/limits.h"

namespace mpsd {

// What a limit measures, and how the config writes it.
enum class LimitKind {
  kSize,        // bytes: "64MiB"
  kSizeOrAuto,  // likewise; "auto" is the default, and stays 0 here
  kBufferSize,  // likewise, at least limits.message; "auto" follows limits.message
  kDuration,    // nanoseconds: "30s"
  kCount,       // 128
  kFlag,        // true
};

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

// The units of the rows.
inline constexpr uint64_t kKiB = 1ULL << 10;
inline constexpr uint64_t kMiB = 1ULL << 20;
inline constexpr uint64_t kGiB = 1ULL << 30;
inline constexpr uint64_t kTiB = 1ULL << 40;
inline constexpr int64_t kNsPerHour = 3600 * kNsPerSecond;

// A value. Has a member with its default for each row of limit_rows.inc: `uint64_t message_bytes`,
// `int64_t drain_timeout_ns`, `uint32_t streams`, … 0 of a member that may be "auto" is "auto".
struct LimitsConfig {
#define MPSD_LIMIT(key, member, kind, initial, ...) \
  LimitValueOf<LimitKind::kind>::Type member = initial;
#include "server/config/limit_rows.inc"
#undef MPSD_LIMIT

  bool operator==(const LimitsConfig&) const = default;
};

static_assert(kDefaultQueueBytes >= LimitsConfig().message_bytes, "one legal request always fits");

}  // namespace mpsd

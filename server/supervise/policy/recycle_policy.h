// RecycleReason: when a worker that serves well is replaced. Pure.
#pragma once

#include <cstdint>

#include "proto/base/backoff_policy.h"
#include "server/request/supervision_limits.h"

namespace mpsd {

// After a replacement failed, or lacked memory.
constexpr int64_t kReplacementRetryNs = 30 * kNsPerSecond;

// A value. Figures that no limit needs may be 0.
struct WorkerUse {
  uint64_t resident_bytes = 0;
  uint64_t requests = 0;      // by this incarnation
  int64_t age_ns = 0;         // since it began to serve
  bool is_too_small = false;  // for an answer that came
  bool relieves = false;      // a fresh worker would relieve the host's memory
};

// Models leak, and an operator says when a worker is old enough (`recycle`). WorkerGroup starts a
// fresh worker beside it, if memory allows and no other replacement goes on:
//
//   old    serving ─────────────────────────────▶ draining ─▶ gone
//   fresh            loading ─▶ warming ─▶ serving ─────────────▶
//
// The limits, in the order of the checks; 0: never reached:
//
//   limit             is reached                                     jitter
//   answers           by an answer that the worker's memory cannot   none
//                     hold; no config sets it
//   resident_memory   by the process's resident bytes, once it has   none
//                     served for kGoodServiceNs: a fresh worker may
//                     be as large
//   memory_pressure   by the host's lack of memory, where the worker none
//                     has grown; once it has served for as long
//   requests          by the requests that it has answered           a limit of 10000: from 9000
//   age               by the time since it began to serve            a limit of 24 h: from 21.6 h
//
// Returns the first that holds, as the log's word; null for none. The worker's own `jitter` in [0,
// 1) keeps workers that began together from ending together.
inline const char* RecycleReason(const RecycleLimits& limits, const WorkerUse& use, double jitter) {
  if (use.is_too_small) return "answers";
  const double share = 1 - jitter / 10;
  const bool is_large = limits.resident_bytes > 0 && use.resident_bytes >= limits.resident_bytes;
  const bool has_served = use.age_ns >= kGoodServiceNs;
  if (is_large && has_served) return "resident_memory";
  if (use.relieves && has_served) return "memory_pressure";
  if (limits.requests > 0 &&
      static_cast<double>(use.requests) >= static_cast<double>(limits.requests) * share) {
    return "requests";
  }
  if (limits.age_ns > 0 &&
      static_cast<double>(use.age_ns) >= static_cast<double>(limits.age_ns) * share) {
    return "age";
  }
  return nullptr;
}

}  // namespace mpsd

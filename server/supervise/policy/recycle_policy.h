// RecycleReason: when a worker that serves well is replaced by a fresh one. Pure.
//
// Models leak: in their own code, in a library, in an allocator that returns nothing. An operator
// cannot fix that, but can say when a worker is old enough (a model's `recycle`). WorkerGroup then
// starts a fresh worker beside the old one, and drains the old one once the fresh one serves:
//
//   old    serving ─────────────────────────────▶ draining ─▶ gone
//   fresh            loading ─▶ warming ─▶ serving ─────────────▶
#pragma once

#include <cstdint>

#include "proto/base/backoff_policy.h"
#include "server/supervise/policy/supervision_limits.h"

namespace mpsd {

// After a replacement failed, or lacked memory, the next try waits this long.
constexpr int64_t kReplacementRetryNs = 30 * kNsPerSecond;

// A worker's use so far. A value. Figures that no limit needs may be 0.
struct WorkerUse {
  uint64_t resident_bytes = 0;
  uint64_t requests = 0;      // answered by this incarnation
  int64_t age_ns = 0;         // since it began to serve
  bool is_too_small = false;  // for an answer that came
  bool relieves = false;      // the host's memory is short, and a fresh worker would help
};

// The limits, in the order of the checks:
//
//   limit             is reached                                     jitter
//   answers           by an answer that the worker's memory cannot   none
//                     hold; no config sets it
//   resident_memory   by the process's resident bytes, once it       none
//                     has served for kGoodServiceNs
//   memory_pressure   by the host's lack of memory, where the worker  none
//                     has grown; once it has served for as long
//   requests          by the requests that it has answered           a limit of 10000: from 9000
//   age               by the time since it began to serve            a limit of 24 h: from 21.6 h
//
// A limit of 0 is never reached. Returns the first reason that holds, as the log's word: "answers",
// "resident_memory", "memory_pressure", "requests" or "age"; null for none. WorkerGroup asks at
// each look at its serving workers. It decides itself whether there is memory for one worker more,
// and whether another one is being replaced.
//
// `jitter` in [0, 1) is the worker's own. It takes up to a tenth off age and requests, so that
// workers that began together do not end together. Memory limits have no jitter, since they protect
// the host. Memory is no reason before kGoodServiceNs: if a fresh worker is as large, replacing
// gains nothing.
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

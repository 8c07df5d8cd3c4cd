// MemoryKills: which deaths were the kernel's, for lack of memory. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/base/clock.h"

namespace mpsd {

// The kernel counts its kills and names no process. A worker killed about when the count grew is
// taken for one:
//
//   count   4 ──────── 4 ─── 5 ──────────────────────── 5
//                            │◀──── 2 s ────▶│
//   SIGKILL of a worker ─────── here: "oom" ── here: "killed"
//
// The guess decides a word in log and metrics, and whether the death counts for the circuit: a
// model that exhausts memory does so again. One for all workers, in SuperviseServices. On a system
// without that count all such deaths are "killed". Thread-compatible: used on the supervisor's
// thread.
class MemoryKills {
 public:
  // Called after each spawn, so that an old kill of another process explains no death. New kills
  // explain deaths for two seconds. A count that has fallen, as another cgroup's may, explains
  // nothing.
  void Look(uint64_t count, int64_t now_ns) {
    const uint64_t seen = seen_.value_or(count);
    seen_ = count;
    if (count <= seen) return;
    fresh_ = count - seen;
    fresh_until_ns_ = now_ns + kTogetherNs;
  }

  // Whether the kernel probably sent the SIGKILL that ended a worker. Each kill explains one death.
  bool Explains(uint64_t count, int64_t now_ns) {
    Look(count, now_ns);
    if (fresh_ == 0 || now_ns > fresh_until_ns_) return false;
    --fresh_;
    return true;
  }

 private:
  // The longest time between a kill and the exit's report.
  static constexpr int64_t kTogetherNs = 2 * kNsPerSecond;

  std::optional<uint64_t> seen_;  // none before the first look
  uint64_t fresh_ = 0;            // kills that have explained no death yet
  int64_t fresh_until_ns_ = 0;
};

}  // namespace mpsd

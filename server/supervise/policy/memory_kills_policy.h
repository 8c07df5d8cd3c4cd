// MemoryKills: tells which deaths are the kernel's, for want of memory. Pure.
//
// To a parent such a death looks like any SIGKILL. But an operator who reads "killed" looks for a
// person, and one who reads "oom" looks at memory. The kernel counts the processes that it kills
// for want of memory, but does not name them; so a worker that was killed at about the time when
// the count grew is taken for one of them:
//
//   count   4 ──────── 4 ─── 5 ──────────────────────── 5
//                            │◀──── 2 s ────▶│
//   SIGKILL of a worker ─────── here: "oom" ── here: "killed"
//
// A guess may be wrong where several processes are killed at once. It decides a word in the log, a
// label in the metrics, and whether the death counts for the model's circuit: a model that exhausts
// memory does so again, a kill by a person says nothing about it.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/base/clock.h"

namespace mpsd {

// One for all workers of all models, since the kernel's count is one: it stands in
// SuperviseServices. WorkerHost reads the count, which is 0 for good where the system tells none;
// then every such death is "killed". Keeps three numbers. Thread-compatible: used on the
// supervisor's thread.
class MemoryKills {
 public:
  // Notes the count, as a worker starts: otherwise the kill of another process, hours ago, could
  // explain the worker's death. Kills until now explain no later death but those of the next two
  // seconds. A count that has fallen, as that of another cgroup may, explains nothing. Called by
  // SupervisedWorker after each spawn.
  void Look(uint64_t count, int64_t now_ns) {
    const uint64_t seen = seen_.value_or(count);
    seen_ = count;
    if (count <= seen) return;
    fresh_ = count - seen;
    fresh_until_ns_ = now_ns + kTogetherNs;
  }

  // Called when a worker is reaped that was killed by SIGKILL, and not by the front end. True when
  // the kernel did it, as far as one can tell. Each kill of the kernel explains one death.
  bool Explains(uint64_t count, int64_t now_ns) {
    Look(count, now_ns);
    if (fresh_ == 0 || now_ns > fresh_until_ns_) return false;
    --fresh_;
    return true;
  }

 private:
  // The longest time between a kill and the report of the worker's exit.
  static constexpr int64_t kTogetherNs = 2 * kNsPerSecond;

  std::optional<uint64_t> seen_;  // the last count; none before the first look
  uint64_t fresh_ = 0;            // kills that have explained no death yet
  int64_t fresh_until_ns_ = 0;    // when they stop to explain one
};

}  // namespace mpsd

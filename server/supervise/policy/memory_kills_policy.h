// MemoryKills: which deaths were the kernel's, for lack of memory. Pure.
//
// To a parent such a death looks like any SIGKILL. But an operator who reads "killed" looks for a
// person, and one who reads "oom" looks at memory. The kernel counts its kills for lack of memory
// but does not name the processes. So a worker that was killed about when the count grew is taken
// for one:
//
//   count   4 ──────── 4 ─── 5 ──────────────────────── 5
//                            │◀──── 2 s ────▶│
//   SIGKILL of a worker ─────── here: "oom" ── here: "killed"
//
// The guess may be wrong if several processes are killed at once. It decides a word in the log, a
// label in the metrics, and whether the death counts for the model's circuit. A model that exhausts
// memory does so again; a kill by a person says nothing about the model.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/base/clock.h"

namespace mpsd {

// One for all workers of all models, in SuperviseServices, because the kernel has one count.
// WorkerHost reads that count. On a system without it the count is always 0, and every such death
// is "killed". Thread-compatible: used on the supervisor's thread.
class MemoryKills {
 public:
  // Notes the count as a worker starts. Otherwise another process's kill hours ago could explain
  // the worker's death. Kills until now explain only deaths of the next two seconds. A count that
  // has fallen, as that of another cgroup may, explains nothing. SupervisedWorker calls it after
  // each spawn.
  void Look(uint64_t count, int64_t now_ns) {
    const uint64_t seen = seen_.value_or(count);
    seen_ = count;
    if (count <= seen) return;
    fresh_ = count - seen;
    fresh_until_ns_ = now_ns + kTogetherNs;
  }

  // Called when a worker is reaped that a SIGKILL has ended, but not the front end's. True if the
  // kernel probably sent it. Each kill of the kernel explains one death.
  bool Explains(uint64_t count, int64_t now_ns) {
    Look(count, now_ns);
    if (fresh_ == 0 || now_ns > fresh_until_ns_) return false;
    --fresh_;
    return true;
  }

 private:
  // The longest time between a kill and the report of the worker's exit.
  static constexpr int64_t kTogetherNs = 2 * kNsPerSecond;

  std::optional<uint64_t> seen_;  // last count; none before the first look
  uint64_t fresh_ = 0;            // kills that have explained no death yet
  int64_t fresh_until_ns_ = 0;    // how long they may explain one
};

}  // namespace mpsd

// MemoryKills: tells which deaths are the kernel's, for want of memory. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/base/clock.h"

namespace mpsd {

// The kernel counts the processes that it kills for want of memory, but does not name them. A
// worker that was killed at about the time when the count grew is taken for one of them. One for
// all workers. Thread-compatible.
class MemoryKills {
 public:
  // Notes the count. Kills until now explain no later death but those of the next two seconds.
  void Look(uint64_t count, int64_t now_ns) {
    const uint64_t seen = seen_.value_or(count);
    seen_ = count;
    if (count <= seen) return;
    fresh_ = count - seen;
    fresh_until_ns_ = now_ns + kTogetherNs;
  }

  // A worker was killed, and not by the front end. True when the kernel did it. Each kill of the
  // kernel explains one death.
  bool Explains(uint64_t count, int64_t now_ns) {
    Look(count, now_ns);
    if (fresh_ == 0 || now_ns > fresh_until_ns_) return false;
    --fresh_;
    return true;
  }

 private:
  // The longest time between a kill and the report of the worker's exit.
  static constexpr int64_t kTogetherNs = 2 * kNsPerSecond;

  std::optional<uint64_t> seen_;
  uint64_t fresh_ = 0;
  int64_t fresh_until_ns_ = 0;
};

}  // namespace mpsd

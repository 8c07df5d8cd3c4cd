// Which deaths the kernel's want of memory explains. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/base/clock.h"

namespace mpsd {

// The kernel counts whom it kills for want of memory, and does not say whom: a worker that was
// killed about when the count went up was one of them. Of all workers together. Thread-compatible.
class MemoryKills {
 public:
  // What it killed before this is known, and explains no later death but those of about now.
  void Look(uint64_t count, int64_t now_ns) {
    const uint64_t seen = seen_.value_or(count);
    seen_ = count;
    if (count <= seen) return;
    fresh_ = count - seen;
    fresh_until_ns_ = now_ns + kTogetherNs;
  }

  // A worker was killed, by nobody here: true when it was by the kernel. Each kill of the kernel's
  // explains one death.
  bool Explains(uint64_t count, int64_t now_ns) {
    Look(count, now_ns);
    if (fresh_ == 0 || now_ns > fresh_until_ns_) return false;
    --fresh_;
    return true;
  }

 private:
  // Between a kill and the sight of the worker's death.
  static constexpr int64_t kTogetherNs = 2 * kNsPerSecond;

  std::optional<uint64_t> seen_;
  uint64_t fresh_ = 0;
  int64_t fresh_until_ns_ = 0;
};

}  // namespace mpsd

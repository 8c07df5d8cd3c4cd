// MemoryBudget: what shared memory may still be allocated.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Thread-compatible. Allocating beyond a memory cgroup's limit does not fail, it kills the process:
// so everything is asked for here first.
class MemoryBudget {
 public:
  // `cap_bytes` of shared memory at most; 0: what the host and its cgroup leave.
  explicit MemoryBudget(uint64_t cap_bytes) : cap_bytes_(cap_bytes) {}

  // Takes `bytes` for `what` ("model 'm': 128 MiB of slabs"). RESOURCE_EXHAUSTED with the numbers
  // when the cap, or what the host and its cgroup have left, does not hold them.
  absl::Status Take(uint64_t bytes, const std::string& what);
  void GiveBack(uint64_t bytes) { taken_bytes_ -= bytes; }

  uint64_t taken_bytes() const { return taken_bytes_; }

 private:
  const uint64_t cap_bytes_;
  uint64_t taken_bytes_ = 0;
};

}  // namespace mpsd

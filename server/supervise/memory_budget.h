// MemoryBudget: how much shared memory may still be allocated.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Allocating beyond a memory cgroup's limit does not fail, it kills the process: so every segment
// is asked for here before it is made. Owned by the supervisor. Thread-compatible, except that a
// pointer from Share() may be dropped on any thread, even after the budget is gone.
class MemoryBudget {
 public:
  // Allows at most `cap_bytes` of shared memory; 0: as much as the host and its cgroup have left.
  explicit MemoryBudget(uint64_t cap_bytes) : cap_bytes_(cap_bytes) {}

  // Takes `bytes` for `what` ("model 'm': 128 MiB of slabs"). RESOURCE_EXHAUSTED with the numbers
  // when the cap, or what the host and its cgroup have left, does not hold them.
  absl::Status Take(uint64_t bytes, const std::string& what);

  // REQUIRES: at least `bytes` are taken.
  void GiveBack(uint64_t bytes);

  // Returns a pointer whose last copy gives the `bytes` back, which were taken before.
  std::shared_ptr<void> Share(uint64_t bytes);

  uint64_t taken_bytes() const { return taken_->load(std::memory_order_relaxed); }

 private:
  using Taken = std::atomic<uint64_t>;

  const uint64_t cap_bytes_;
  const std::shared_ptr<Taken> taken_ = std::make_shared<Taken>(0);
};

}  // namespace mpsd

// MemoryBudget: what shared memory may still be allocated.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Thread-compatible, but for what Share() gave, which may go on any thread, after the budget too.
// Allocating beyond a memory cgroup's limit does not fail, it kills the process:
// so everything is asked for here first.
class MemoryBudget {
 public:
  // `cap_bytes` of shared memory at most; 0: what the host and its cgroup leave.
  explicit MemoryBudget(uint64_t cap_bytes) : cap_bytes_(cap_bytes) {}

  // Takes `bytes` for `what` ("model 'm': 128 MiB of slabs"). RESOURCE_EXHAUSTED with the numbers
  // when the cap, or what the host and its cgroup have left, does not hold them.
  absl::Status Take(uint64_t bytes, const std::string& what);
  void GiveBack(uint64_t bytes) { taken_->fetch_sub(bytes, std::memory_order_relaxed); }

  // Gives `bytes`, which were taken, back when the last copy of what it returns goes.
  std::shared_ptr<void> Share(uint64_t bytes);

  uint64_t taken_bytes() const { return taken_->load(std::memory_order_relaxed); }

 private:
  using Taken = std::atomic<uint64_t>;

  const uint64_t cap_bytes_;
  const std::shared_ptr<Taken> taken_ = std::make_shared<Taken>(0);
};

}  // namespace mpsd

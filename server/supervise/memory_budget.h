// MemoryBudget: how much shared memory may still be allocated.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// An allocation beyond a memory cgroup's limit kills the front end. So each segment takes its bytes
// here first, and gives them back once this process has unmapped it:
//
//   Take(bytes) ─▶ OwnedSegment::Create ─▶ in use ─▶ unmapped ─▶ GiveBack(bytes), or a Share ends
//        │               │ fails: GiveBack()
//        └ RESOURCE_EXHAUSTED: nothing was made
//
// The price of a refusal, by segment:
//
//   the first slab segment, a worker's own   the worker is killed, its model is not ready. At the
//                                            start the daemon ends with exit 78 if no model fits
//   a further slab segment                   PoolMemory::Refuse(): requests that wait are refused
//
// Owned by the supervisor, one for all models. Thread-compatible, used on the supervisor's thread.
// Any thread may drop a pointer from Share(), even after the budget is gone.
class MemoryBudget {
 public:
  // `cap_bytes`: for all segments; 0: as much as host and cgroup have left. Clients can make the
  // front end hold `clients_bytes` besides.
  explicit MemoryBudget(uint64_t cap_bytes, uint64_t clients_bytes = 0)
      : cap_bytes_(cap_bytes), clients_bytes_(clients_bytes) {}

  // `what` ("model 'm'") begins an error's message. RESOURCE_EXHAUSTED, with the numbers, beyond
  // the cap, or if the host and its cgroup would have less than 32 MiB left. Then nothing is taken.
  absl::Status Take(uint64_t bytes, const std::string& what) { return Take(bytes, what, 0); }

  // For requests under load: leaves `clients_bytes` too, or the kernel would end the front end.
  absl::Status TakeUnderLoad(uint64_t bytes, const std::string& what) {
    return Take(bytes, what, clients_bytes_);
  }

  // REQUIRES: at least `bytes` are taken.
  void GiveBack(uint64_t bytes);

  // The last copy of the pointer gives `bytes` back. It must not be dereferenced.
  std::shared_ptr<void> Share(uint64_t bytes);

  // Thread-safe.
  uint64_t taken_bytes() const { return taken_->load(std::memory_order_relaxed); }

 private:
  using Taken = std::atomic<uint64_t>;

  absl::Status Take(uint64_t bytes, const std::string& what, uint64_t spared_bytes);

  const uint64_t cap_bytes_;  // 0: no cap
  const uint64_t clients_bytes_;
  const std::shared_ptr<Taken> taken_ = std::make_shared<Taken>(0);
};

}  // namespace mpsd

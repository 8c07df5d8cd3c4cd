// MemoryBudget: how much shared memory may still be allocated.
//
// An allocation beyond a memory cgroup's limit does not fail: it kills the front end, and with it
// all clients. So every segment's bytes are taken here before it is made, and given back when its
// last mapping in this process is gone:
//
//   Take(bytes) ─▶ OwnedSegment::Create ─▶ in use ─▶ unmapped ─▶ GiveBack(bytes), or a Share ends
//        │               │ fails: GiveBack()
//        └ RESOURCE_EXHAUSTED: nothing was made
//
// Two bounds hold: `limits.shared_memory` if the config sets it, and what the host and its cgroup
// have left at that moment, less some room for heaps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// The price of a refusal, by segment:
//   the first slab segment, a worker's own   the worker is killed, and its model not ready. At the
//                                            start the daemon ends with exit 78 if no model fits
//   a further slab segment                   PoolMemory::Refuse(): requests that wait are refused
//
// One for all models and kinds of segment, owned by the supervisor. It only counts: it allocates
// nothing and keeps no list. Thread-compatible, used on the supervisor's thread, except that any
// thread may drop a pointer from Share(), even after the budget is gone. An answer that a client
// has not read yet may be the last to release a worker's segment.
class MemoryBudget {
 public:
  // Allows at most `cap_bytes` of shared memory; 0: as much as host and cgroup have left. Clients
  // can make the front end hold `clients_bytes` besides.
  explicit MemoryBudget(uint64_t cap_bytes, uint64_t clients_bytes = 0)
      : cap_bytes_(cap_bytes), clients_bytes_(clients_bytes) {}

  // Takes `bytes` for `what` ("model 'm'"), which begins an error's message. Checks the cap, then
  // asks the operating system what is left, of which 32 MiB stay free. RESOURCE_EXHAUSTED, with the
  // numbers, if one of the two is too small; then nothing is taken.
  absl::Status Take(uint64_t bytes, const std::string& what) { return Take(bytes, what, 0); }

  // The same for memory that requests need under load. Leaves room for `clients_bytes` too;
  // otherwise the kernel would end the front end.
  absl::Status TakeUnderLoad(uint64_t bytes, const std::string& what) {
    return Take(bytes, what, clients_bytes_);
  }

  // REQUIRES: at least `bytes` are taken.
  void GiveBack(uint64_t bytes);

  // Returns a pointer whose last copy gives back `bytes` that were taken before. Callers must not
  // use what it points to.
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

// MemoryBudget: how much shared memory may still be allocated.
//
// Allocating beyond a memory cgroup's limit does not fail, it kills the process, and with the front
// end all clients. So every segment is asked for here before it is made, in full, and given back
// when its last mapping in this process is gone:
//
//   Take(bytes) ─▶ OwnedSegment::Create ─▶ in use ─▶ unmapped ─▶ GiveBack(bytes), or a Share ends
//        │               │ fails: GiveBack()
//        └ RESOURCE_EXHAUSTED: nothing was made
//
// Two bounds hold: `limits.shared_memory`, where the config sets it, and what the host and its
// cgroup have left at the moment of asking, less some room for heaps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// What a refusal costs, by the segment that was asked for:
//   the first slab segment, a worker's own   the worker is killed, and its model not ready. At the
//                                            start the daemon ends with exit 78 if no model fits
//   a further slab segment                   PoolMemory::Refuse(): requests that wait are refused
//
// One for all models and all kinds of segment. Owned by the supervisor. Only counts: it allocates
// nothing and keeps no list. Thread-compatible, used on the supervisor's thread, except that a
// pointer from Share() may be dropped on any thread, even after the budget is gone: an answer that
// a client has not read yet may be the last to let go of a worker's segment.
class MemoryBudget {
 public:
  // Allows at most `cap_bytes` of shared memory; 0: as much as the host and its cgroup have left.
  // Clients can make the front end hold `clients_bytes` besides.
  explicit MemoryBudget(uint64_t cap_bytes, uint64_t clients_bytes = 0)
      : cap_bytes_(cap_bytes), clients_bytes_(clients_bytes) {}

  // Takes `bytes` for `what` ("model 'm'"), which begins the message of an error. Looks at the cap
  // first, then asks the operating system what is left, of which 32 MiB stay free.
  // RESOURCE_EXHAUSTED with the numbers when the cap, or what the host and its cgroup have left,
  // does not hold them; nothing is taken then.
  absl::Status Take(uint64_t bytes, const std::string& what) { return Take(bytes, what, 0); }

  // The same for memory that requests ask for under load, which leaves room for `clients_bytes`
  // too: else the kernel ends the front end.
  absl::Status TakeUnderLoad(uint64_t bytes, const std::string& what) {
    return Take(bytes, what, clients_bytes_);
  }

  // The bytes are free for others. REQUIRES: at least `bytes` are taken.
  void GiveBack(uint64_t bytes);

  // Returns a pointer whose last copy gives the `bytes` back, which were taken before. The pointer
  // points to nothing that a caller may use.
  std::shared_ptr<void> Share(uint64_t bytes);

  // Thread-safe.
  uint64_t taken_bytes() const { return taken_->load(std::memory_order_relaxed); }

 private:
  using Taken = std::atomic<uint64_t>;

  absl::Status Take(uint64_t bytes, const std::string& what, uint64_t spared_bytes);

  const uint64_t cap_bytes_;  // 0: none
  const uint64_t clients_bytes_;
  const std::shared_ptr<Taken> taken_ = std::make_shared<Taken>(0);
};

}  // namespace mpsd

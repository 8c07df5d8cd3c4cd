// OutputLease: the right to one extent of a worker's output area.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "server/request/reply.h"

namespace mpsd {

class WorkerLink;

// Thread-safe. One reference for the batch, and one per answer slice that points into the extent.
// The last Unref(), on any thread, returns the lease to its link. The lease keeps its link, and so
// the mapping, alive.
//
// Invariants:
//  1. While a reference is held, the extent is leased to no other batch.
//  2. While a reference is held, `link_` is set.
//  3. The lease is charged to its link at most once, even if several threads pin it. The charge is
//     all of its bytes, since one answer keeps the whole lease.
class OutputLease final : public AnswerMemory {
 public:
  // For WorkerLink only. REQUIRES: no reference is held.
  void Begin(std::shared_ptr<WorkerLink> link, uint64_t offset, uint64_t bytes);

  // REQUIRES: a reference is held.
  void Ref() override { references_.fetch_add(1, std::memory_order_relaxed); }

  // The caller must not touch the lease or its bytes afterwards. REQUIRES: the caller held a
  // reference.
  void Unref() override;

  // False if clients have left too much of the link's memory unread: the caller then copies the
  // answer. REQUIRES: a reference is held.
  bool TryPin() override;

  uint64_t offset() const { return offset_; }
  uint64_t bytes() const { return bytes_; }

 private:
  friend class WorkerLink;

  std::shared_ptr<WorkerLink> link_;
  uint64_t offset_ = 0;
  uint64_t bytes_ = 0;
  std::atomic<uint32_t> references_{0};
  std::atomic<bool> charged_{false};  // its bytes are charged to the link as pinned
  OutputLease* next_ = nullptr;       // in the link's list of released leases
};

}  // namespace mpsd

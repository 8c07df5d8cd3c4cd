// OutputLease: the right to one extent of a worker's output area.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "server/request/reply.h"

namespace mpsd {

class WorkerLink;

// Steps 7 to 13 of a request's life. Thread-safe. Reference-counted: one reference for the batch,
// and one per answer slice that points into the extent. The last Unref(), on any thread, returns
// the lease to its link. Until then the lease keeps its link, and so the mapping, alive.
//
//   WorkerLink::LeaseOutput()            one reference, the batch's; the worker writes the outputs
//     each slice made of a large output  one more, if TryPin() allows it
//
//     the batch's slot is free again     the batch's reference goes
//
//     a reader releases its slice        the slice's reference goes; the client has read it
//   WorkerLink::Released()               none: the extent is free at the pool's next look
//
// Invariants:
//  1. While a reference is held, the extent is leased to no other batch.
//  2. While a reference is held, `link_` is set.
//  3. The lease is charged to its link at most once, even if several threads pin it.
//
// A pinned answer keeps the whole lease, even if other answers lie in it too. So the first TryPin()
// charges all bytes of the lease to the link, and the last Unref() returns them.
class OutputLease final : public AnswerMemory {
 public:
  // Starts the lease with one reference. For WorkerLink only. REQUIRES: no reference is held.
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

// OutputLease: the right to one extent of a worker's output area.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "server/request/reply.h"

namespace mpsd {

class WorkerLink;

// Steps 7 to 13 of a request's life. Thread-safe. Reference-counted: the batch holds one reference,
// and each answer slice that points into the extent holds one. The last Unref(), on any thread,
// gives the lease back to its link. A lease that is out keeps its link alive, and so the mapping.
//
// A pinned answer keeps the whole lease, even if other answers lie in it too. So the first TryPin()
// charges all bytes of the lease to the link, and the last Unref() gives them back.
class OutputLease final : public AnswerMemory {
 public:
  // The lease is out from now on, with one reference. REQUIRES: none is held.
  void Begin(std::shared_ptr<WorkerLink> link, uint64_t offset, uint64_t bytes);

  void Ref() override { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() override;
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

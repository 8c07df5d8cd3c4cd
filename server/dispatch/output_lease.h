// OutputLease: the right to one extent of a worker's output area.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "server/request/reply.h"

namespace mpsd {

class WorkerLink;

// Thread-safe. Counted: one reference for the batch, one for each answer slice that points into it.
// The last Unref, on whatever thread, hands it back to its link. While a lease is out its link, and
// so the mapping, lives.
//
// An answer that is pinned keeps the whole lease, whoever else's answers lie in it: so the first
// TryPin() charges all its bytes to the link, and the last Unref() gives them back.
class OutputLease final : public AnswerMemory {
 public:
  // Begins a life with one reference.
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
  std::atomic<bool> charged_{false};  // to the link, as pinned
  OutputLease* next_ = nullptr;       // in the link's list of released leases
};

}  // namespace mpsd

#include "server/pool/lanes/output_lease.h"

#include <utility>

#include "proto/base/check.h"
#include "server/pool/lanes/worker_link.h"

namespace mpsd {

void OutputLease::Begin(std::shared_ptr<WorkerLink> link, uint64_t offset, uint64_t bytes) {
  link_ = std::move(link);
  offset_ = offset;
  bytes_ = bytes;
  charged_.store(false, std::memory_order_relaxed);
  references_.store(1, std::memory_order_relaxed);
}

void OutputLease::Unref() {
  const uint32_t before = references_.fetch_sub(1, std::memory_order_acq_rel);
  MPSD_CHECK(before > 0);
  if (before > 1) return;
  // The link must outlive this call, which may end the lease.
  const std::shared_ptr<WorkerLink> link = link_;
  if (charged_.load(std::memory_order_relaxed)) link->Unpin(bytes_);
  link->Released(this);
}

bool OutputLease::TryPin() {
  if (charged_.load(std::memory_order_relaxed)) return true;
  // If there is no room, another thread's charge for this very lease may have taken it.
  if (!link_->TryPin(bytes_)) return charged_.load(std::memory_order_relaxed);
  if (charged_.exchange(true, std::memory_order_relaxed)) link_->Unpin(bytes_);
  return true;
}

}  // namespace mpsd

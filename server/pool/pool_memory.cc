#include "server/pool/pool_memory.h"

#include <utility>

#include "proto/base/clock.h"
#include "server/pool/pool_carrier.h"
#include "server/pool/pool_parts.h"

namespace mpsd {

void PoolMemory::Add(OwnedSegment segment, uint32_t number) {
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    PoolQueue& queue = parts_->queue;
    queue.slabs()->AddSegment(std::move(segment), number);
    queue.growth()->Granted();
    queue.NoteSlabs();
    queue.PlaceWaiting(&work.fills, &work.tick_by_ns);
  }
  carrier_->Carry(&work);
}

std::optional<uint64_t> PoolMemory::TakeGrowthRequest() {
  absl::MutexLock lock(&parts_->mu);
  return parts_->queue.growth()->Take(parts_->queue.slabs()->segment_bytes());
}

void PoolMemory::Refuse() {
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    PoolQueue& queue = parts_->queue;
    const int64_t now_ns = parts_->facts.clock->NowNs();
    queue.growth()->Refused(now_ns);
    queue.TakeWaiting(now_ns, &parts_->taken);
    work.EndAll(&parts_->taken, absl::DeadlineExceededError("Request timeout expired"));
    queue.TakeWaiting(INT64_MAX, &parts_->taken);
    work.EndAll(&parts_->taken, queue.ledger()->FullError());
  }
  carrier_->Carry(&work);
}

std::optional<uint32_t> PoolMemory::RetireIdle(uint32_t idle_calls) {
  absl::MutexLock lock(&parts_->mu);
  return parts_->queue.RetireIdle(idle_calls);
}

OwnedSegment PoolMemory::Remove(uint32_t number) {
  absl::MutexLock lock(&parts_->mu);
  OwnedSegment segment = parts_->queue.slabs()->RemoveSegment(number);
  parts_->queue.NoteSlabs();
  return segment;
}

std::vector<SlabSegment> PoolMemory::Descriptors() const {
  absl::MutexLock lock(&parts_->mu);
  return parts_->queue.batcher().slab_table().Segments();
}

uint64_t PoolMemory::Bytes() const {
  absl::MutexLock lock(&parts_->mu);
  return parts_->queue.batcher().slab_table().segment_bytes();
}

}  // namespace mpsd

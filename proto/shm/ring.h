// The two ends of a single-producer, single-consumer ring that lies across two segments.
//
// The producer's process writes entries and tail, the consumer's process writes head; each end
// keeps its own index in private memory and believes nothing of the other's but after validation.
// Indices count up and wrap at 2^32; an entry's place is its index modulo kRingEntries.
//
// Invariants
//   1. tail - head <= kRingEntries, in unsigned arithmetic. A peer that breaks it is lying.
//   2. An entry is immutable from the store of tail that publishes it until the store of head that
//      passes it.
//   3. Tail is stored seq_cst and a sleeper's flag is loaded after it: together with the sleeper's
//      store of the flag and load of tail, in that order, one of the two sees the other; see
//      doorbell.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "proto/base/limits.h"
#include "proto/shm/layout.h"

namespace mpsd {

// Thread-compatible. Lives with the ring's only producer.
class RingProducer {
 public:
  RingProducer() = default;
  // `first` is the index that tail and head hold: 0 in a new segment.
  RingProducer(SharedWord* entries, SharedWord* tail, const SharedWord* head, uint32_t first = 0)
      : entries_(entries), tail_(tail), head_(head), next_(first) {}

  // Publishes `entry`. False when the peer's head leaves no room or is a lie: with credits in order
  // neither happens, so the caller gives the peer up.
  bool Push(uint32_t entry) {
    const uint32_t used = next_ - head_->load(std::memory_order_acquire);
    if (used >= kRingEntries) return false;
    entries_[next_ % kRingEntries].store(entry, std::memory_order_relaxed);
    ++next_;
    tail_->store(next_, std::memory_order_seq_cst);
    return true;
  }

 private:
  SharedWord* entries_ = nullptr;
  SharedWord* tail_ = nullptr;
  const SharedWord* head_ = nullptr;
  uint32_t next_ = 0;
};

// Thread-compatible, but for Pending(), which any thread may call. Lives with the ring's only
// consumer.
class RingConsumer {
 public:
  RingConsumer() = default;
  // `first` is the index that tail and head hold: 0 in a new segment.
  RingConsumer(const SharedWord* entries, const SharedWord* tail, SharedWord* head,
               uint32_t first = 0)
      : entries_(entries), tail_(tail), head_(head), next_(first) {}

  // True when Peek() would find something (or a lie).
  bool Pending() const {
    return tail_->load(std::memory_order_seq_cst) != next_.load(std::memory_order_relaxed);
  }

  // True when the peer's tail is out of bounds: it is lying.
  bool Corrupt() const {
    return tail_->load(std::memory_order_acquire) - next_.load(std::memory_order_relaxed) >
           kRingEntries;
  }

  // The next entry, which stays in the ring until Pop(). REQUIRES: Pending() and not Corrupt().
  uint32_t Peek() const {
    const uint32_t place = next_.load(std::memory_order_relaxed) % kRingEntries;
    return entries_[place].load(std::memory_order_relaxed);
  }

  // Gives the entry's place, and what it names, back to the producer.
  void Pop() {
    const uint32_t next = next_.load(std::memory_order_relaxed) + 1;
    next_.store(next, std::memory_order_relaxed);
    head_->store(next, std::memory_order_release);
  }

 private:
  const SharedWord* entries_ = nullptr;
  const SharedWord* tail_ = nullptr;
  SharedWord* head_ = nullptr;
  std::atomic<uint32_t> next_{0};  // written by the consumer, read by Pending()
};

}  // namespace mpsd

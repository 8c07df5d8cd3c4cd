// The two ends of a single-producer, single-consumer ring that lies across two segments.
//
// The producer's process writes entries and tail, the consumer's process writes head; each end
// keeps its own index in private memory and checks the other's before using it. Indices count up
// and wrap at 2^32; an entry lies at its index modulo kRingEntries.
//
// Invariants
//   1. tail - head <= kRingEntries, in unsigned arithmetic. A peer that breaks it is lying.
//   2. An entry is immutable from the store of tail that publishes it until the store of head that
//      passes it.
//   3. Tail is stored seq_cst and a sleeper's flag is loaded after it: together with the sleeper's
//      store of the flag and load of tail, in that order, one of the two sees the other; see
//      doorbell.h. Why each access has the order that it has stands in shared_atomics.h.
#pragma once

#include <cstdint>

#include "proto/shm/shared_atomics.h"

namespace mpsd {

// Thread-compatible. Lives with the ring's only producer.
template <typename Atomics>
class BasicRingProducer {
 public:
  using Word = typename Atomics::Word;

  BasicRingProducer() = default;
  // `first` is the index that tail and head hold: 0 in a new segment.
  BasicRingProducer(Word* entries, Word* tail, const Word* head, uint32_t first = 0)
      : entries_(entries), tail_(tail), head_(head), next_(first) {}

  // Publishes `entry`. False when the peer's head leaves no room or is a lie. The caller's credits
  // leave room, so the peer lies.
  bool Push(uint32_t entry) {
    const uint32_t used = next_ - head_->load(Atomics::kHeadLoad);
    if (used >= Atomics::kRingEntries) return false;
    entries_[next_ % Atomics::kRingEntries].store(entry, Atomics::kEntryStore);
    ++next_;
    tail_->store(next_, Atomics::kTailStore);
    return true;
  }

 private:
  Word* entries_ = nullptr;
  Word* tail_ = nullptr;
  const Word* head_ = nullptr;
  uint32_t next_ = 0;
};

// Thread-compatible, except Pending(), which any thread may call. Lives with the ring's only
// consumer.
template <typename Atomics>
class BasicRingConsumer {
 public:
  using Word = typename Atomics::Word;

  BasicRingConsumer() = default;
  // `first` is the index that tail and head hold: 0 in a new segment.
  BasicRingConsumer(const Word* entries, const Word* tail, Word* head, uint32_t first = 0)
      : entries_(entries), tail_(tail), head_(head), next_(first) {}

  // True when Peek() would find something (or a lie).
  bool Pending() const {
    return tail_->load(Atomics::kTailLoad) != next_.load(std::memory_order_relaxed);
  }

  // True when the peer's tail is out of bounds: it is lying.
  bool Corrupt() const {
    return tail_->load(Atomics::kTailCheck) - next_.load(std::memory_order_relaxed) >
           Atomics::kRingEntries;
  }

  // The next entry, which stays in the ring until Pop(). REQUIRES: the caller's own Pending() was
  // true, and Corrupt() was not.
  uint32_t Peek() const {
    const uint32_t at = next_.load(std::memory_order_relaxed) % Atomics::kRingEntries;
    return entries_[at].load(Atomics::kEntryLoad);
  }

  // Gives the entry, and the slot that it names, back to the producer.
  void Pop() {
    const uint32_t next = next_.load(std::memory_order_relaxed) + 1;
    next_.store(next, std::memory_order_relaxed);
    head_->store(next, Atomics::kHeadStore);
  }

 private:
  const Word* entries_ = nullptr;
  const Word* tail_ = nullptr;
  Word* head_ = nullptr;
  // Written by the consumer, read by Pending().
  typename Atomics::PrivateWord next_{0};
};

using RingProducer = BasicRingProducer<SharedAtomics>;
using RingConsumer = BasicRingConsumer<SharedAtomics>;

}  // namespace mpsd

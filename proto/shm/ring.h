// Ring: both ends of a single-producer, single-consumer ring whose words lie in two segments.
//
// A ring carries slot numbers: batches from the front end to a lane, completions back. Each end
// keeps its own index in private memory, safe from the other process. Push() checks the peer's
// head; the consumer's caller checks the peer's tail with Corrupt(), and each entry. Indices wrap
// at 2^32; index i uses entry i modulo kRingEntries.
//
//   producer's segment   tail = 7    entries   │ 2 │ 0 │ 1 │ 3 │     with four entries, 5 and 6
//                                    of index    4   5   6   3       wait for the consumer
//   consumer's segment   head = 5
//
// Invariants:
//   1. tail - head <= kRingEntries, in unsigned arithmetic. A peer that breaks this is lying.
//   2. An honest producer does not change an entry from the store of tail that publishes it until
//      the store of head that passes it.
//   3. No wake-up is lost (doorbell.h). shared_atomics.h explains each memory order.
#pragma once

#include <cstdint>

#include "proto/shm/shared_atomics.h"

namespace mpsd {

// Owned by the ring's only producer, and guarded by its lock if there is one. Thread-compatible.
// Never blocks, and wakes nobody: the caller rings the doorbell.
template <typename Atomics>
class BasicRingProducer {
 public:
  using Word = typename Atomics::Word;

  BasicRingProducer() = default;
  // `first` is the index in tail and head: 0 in a new segment.
  BasicRingProducer(Word* entries, Word* tail, const Word* head, uint32_t first = 0)
      : entries_(entries), tail_(tail), head_(head), next_(first) {}

  // A consumer that sees `entry` also sees everything that the caller wrote before. False if the
  // peer's head leaves no room: the peer lies, because a lane has fewer batches than the ring has
  // entries (limits.h).
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

// Owned by the ring's only consumer. Thread-compatible, but any thread may call Pending(). Never
// blocks.
template <typename Atomics>
class BasicRingConsumer {
 public:
  using Word = typename Atomics::Word;

  BasicRingConsumer() = default;
  // `first` is the index in tail and head: 0 in a new segment.
  BasicRingConsumer(const Word* entries, const Word* tail, Word* head, uint32_t first = 0)
      : entries_(entries), tail_(tail), head_(head), next_(first) {}

  // True if there is an entry, or the peer lies about its tail.
  bool Pending() const {
    return tail_->load(Atomics::kTailLoad) != next_.load(std::memory_order_relaxed);
  }

  // True if the peer's tail is out of bounds. The ring must then not be read.
  bool Corrupt() const {
    return tail_->load(Atomics::kTailCheck) - next_.load(std::memory_order_relaxed) >
           Atomics::kRingEntries;
  }

  // The next entry, which stays until Pop(). The caller checks the value. REQUIRES: Pending() was
  // true, and then Corrupt() false.
  uint32_t Peek() const {
    const uint32_t at = next_.load(std::memory_order_relaxed) % Atomics::kRingEntries;
    return entries_[at].load(Atomics::kEntryLoad);
  }

  // The producer may now overwrite the entry. The ring does not know who owns the slot. REQUIRES:
  // as Peek().
  void Pop() {
    const uint32_t next = next_.load(std::memory_order_relaxed) + 1;
    next_.store(next, std::memory_order_relaxed);
    head_->store(next, Atomics::kHeadStore);
  }

 private:
  const Word* entries_ = nullptr;
  const Word* tail_ = nullptr;
  Word* head_ = nullptr;
  // Any thread reads it in Pending().
  typename Atomics::PrivateWord next_{0};
};

using RingProducer = BasicRingProducer<SharedAtomics>;
using RingConsumer = BasicRingConsumer<SharedAtomics>;

}  // namespace mpsd

// Doorbells: how a publisher wakes a peer that sleeps, and leaves one alone that does not.
//
// A sleeper stores its flag, then looks at the ring once more, then sleeps; a publisher stores the
// ring's tail, then looks at the flag. All four are sequentially consistent, so either the sleeper
// sees the entry or the publisher sees the flag. The sleeper waits only on a word that its waker
// writes, or on a descriptor.
#pragma once

#include <atomic>
#include <cstdint>

#include "proto/base/platform.h"
#include "proto/shm/layout.h"

namespace mpsd {

// The front end's end of a lane's doorbell. Thread-compatible: guarded like the lane's ring.
class LaneBell {
 public:
  LaneBell() = default;
  LaneBell(SharedWord* sequence, const SharedWord* parked) : sequence_(sequence), parked_(parked) {}

  // Call after publishing. True when the lane sleeps and Wake() is owed.
  bool Ring() {
    if (parked_->load(std::memory_order_seq_cst) == 0) return false;
    sequence_->store(++count_, std::memory_order_seq_cst);
    return true;
  }

  // The system call of a Ring() that said true. Any thread, without a lock.
  void Wake() const { platform::WakeWord(sequence_); }

 private:
  SharedWord* sequence_ = nullptr;
  const SharedWord* parked_ = nullptr;
  uint32_t count_ = 0;
};

// The lane's end. Lives on the lane's thread.
class LaneSleep {
 public:
  LaneSleep(const SharedWord* sequence, SharedWord* parked)
      : sequence_(sequence), parked_(parked) {}

  // Sleeps until the bell rings, `pending()` is true, or the time-out came. Returns false only when
  // it was the time-out that ended the sleep.
  template <typename Pending>
  bool Sleep(Pending pending, int64_t timeout_ns) {
    const uint32_t seen = sequence_->load(std::memory_order_seq_cst);
    parked_->store(1, std::memory_order_seq_cst);
    bool woken = true;
    if (!pending()) woken = platform::WaitOnWord(sequence_, seen, timeout_ns);
    parked_->store(0, std::memory_order_seq_cst);
    return woken;
  }

 private:
  const SharedWord* sequence_;
  SharedWord* parked_;
};

}  // namespace mpsd

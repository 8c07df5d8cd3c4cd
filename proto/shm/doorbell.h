// Doorbells: how a publisher wakes a peer that sleeps, and spends no system call on one that is
// awake.
//
// A sleeper stores its flag, then looks at the ring once more, then sleeps; a publisher stores the
// ring's tail, then looks at the flag. All four are sequentially consistent, so either the sleeper
// sees the entry or the publisher sees the flag. The sleeper waits only on a word that its waker
// writes, or on a descriptor. Why each access has the order that it has stands in shared_atomics.h.
#pragma once

#include <cstdint>

#include "proto/shm/shared_atomics.h"

namespace mpsd {

// The front end's end of a lane's doorbell. Thread-compatible: guarded like the lane's ring.
template <typename Atomics>
class BasicLaneBell {
 public:
  using Word = typename Atomics::Word;

  BasicLaneBell() = default;
  BasicLaneBell(Word* sequence, const Word* parked) : sequence_(sequence), parked_(parked) {}

  // Call after publishing. True when the lane sleeps and Wake() is owed.
  bool Ring() {
    if (parked_->load(Atomics::kParkedLoad) == 0) return false;
    sequence_->store(++count_, Atomics::kSequenceStore);
    return true;
  }

  // The system call of a Ring() that said true. Any thread, without a lock.
  void Wake() const { Atomics::Wake(sequence_); }

 private:
  Word* sequence_ = nullptr;
  const Word* parked_ = nullptr;
  uint32_t count_ = 0;
};

// The lane's end. Lives on the lane's thread.
template <typename Atomics>
class BasicLaneSleep {
 public:
  using Word = typename Atomics::Word;

  BasicLaneSleep(const Word* sequence, Word* parked) : sequence_(sequence), parked_(parked) {}

  // Sleeps until the bell rings, `pending()` is true, or the time-out came. Returns false only when
  // it was the time-out that ended the sleep. A publisher may have been stopped between publishing
  // and ringing: when something is pending at the time-out, the publisher gets as much time again.
  template <typename Pending>
  bool Sleep(Pending pending, int64_t timeout_ns) {
    const uint32_t seen = sequence_->load(Atomics::kSequenceLoad);
    parked_->store(1, Atomics::kParkStore);
    bool woken = true;
    if (!pending()) {
      woken = Atomics::Wait(sequence_, seen, timeout_ns);
      if (!woken && pending()) woken = Atomics::Wait(sequence_, seen, timeout_ns);
    }
    parked_->store(0, Atomics::kUnparkStore);
    return woken;
  }

 private:
  const Word* sequence_;
  Word* parked_;
};

// The front end's flag, which all lanes of a worker look at. The front end raises it before it
// looks at the rings for the last time, then sleeps on the descriptor. Thread-compatible.
template <typename Atomics>
class BasicFrontFlag {
 public:
  using Word = typename Atomics::Word;

  explicit BasicFrontFlag(Word* parked) : parked_(parked) {}

  void Set(bool parked) {
    if (parked) {
      parked_->store(1, Atomics::kParkStore);
    } else {
      parked_->store(0, Atomics::kUnparkStore);
    }
  }

 private:
  Word* parked_;
};

// A lane's view of it. Thread-safe.
template <typename Atomics>
class BasicFrontBell {
 public:
  using Word = typename Atomics::Word;

  explicit BasicFrontBell(const Word* parked) : parked_(parked) {}

  // Call after publishing. True when the front end sleeps: the caller then rings its descriptor.
  bool Owed() const { return parked_->load(Atomics::kParkedLoad) != 0; }

 private:
  const Word* parked_;
};

using LaneBell = BasicLaneBell<SharedAtomics>;
using LaneSleep = BasicLaneSleep<SharedAtomics>;
using FrontFlag = BasicFrontFlag<SharedAtomics>;
using FrontBell = BasicFrontBell<SharedAtomics>;

}  // namespace mpsd

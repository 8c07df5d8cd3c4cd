// Doorbells: wake a sleeping peer, and cost no system call if the peer is awake.
//
//   sleeper                                 publisher
//   1. parked = 1                           1. entry, then tail
//   2. something published? then stay up    2. parked? then ring
//   3. sleep until the bell rings
//
// All four accesses of steps 1 and 2 are sequentially consistent, so the sleeper sees the entry or
// the publisher sees the flag (shared_atomics.h).
//
// Invariants:
//   1. A sleeper waits only on a word that its waker writes, or on a descriptor.
//   2. A published entry is seen by its consumer, or its publisher rings; no wake-up is lost.
//   3. A sleep has a time-out as a safety net: work found only because of it reveals a bug.
#pragma once

#include <cstdint>

#include "proto/shm/shared_atomics.h"

namespace mpsd {

// The front end's end of a lane's bell. Thread-compatible: guarded by the lock of the lane's submit
// ring.
template <typename Atomics>
class BasicLaneBell {
 public:
  using Word = typename Atomics::Word;

  BasicLaneBell() = default;
  BasicLaneBell(Word* sequence, const Word* parked) : sequence_(sequence), parked_(parked) {}

  // Called after publishing. True if the lane sleeps; the caller then owes a Wake().
  bool Ring() {
    if (parked_->load(Atomics::kParkedLoad) == 0) return false;
    sequence_->store(++count_, Atomics::kSequenceStore);
    return true;
  }

  // Any thread may call it, without a lock.
  void Wake() const { Atomics::Wake(sequence_); }

 private:
  Word* sequence_ = nullptr;
  const Word* parked_ = nullptr;
  uint32_t count_ = 0;
};

// The lane's end of its bell. Lives on the lane's thread.
template <typename Atomics>
class BasicLaneSleep {
 public:
  using Word = typename Atomics::Word;

  BasicLaneSleep(const Word* sequence, Word* parked) : sequence_(sequence), parked_(parked) {}

  // Blocks until the bell rings, `pending()` is true, or the time is over. False only if the
  // time-out ended the sleep. A publisher may have been stopped between publishing and ringing: if
  // something is pending at the time-out, the publisher gets the same time again.
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

// The front end's flag, for all lanes of a worker. The front end sleeps on a descriptor.
// Thread-compatible.
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

// A lane's view of that flag. Thread-safe.
template <typename Atomics>
class BasicFrontBell {
 public:
  using Word = typename Atomics::Word;

  explicit BasicFrontBell(const Word* parked) : parked_(parked) {}

  // Called after publishing. True if the caller owes a ring of the front end's descriptor.
  bool Owed() const { return parked_->load(Atomics::kParkedLoad) != 0; }

 private:
  const Word* parked_;
};

using LaneBell = BasicLaneBell<SharedAtomics>;
using LaneSleep = BasicLaneSleep<SharedAtomics>;
using FrontFlag = BasicFrontFlag<SharedAtomics>;
using FrontBell = BasicFrontBell<SharedAtomics>;

}  // namespace mpsd

// SharedAtomics: the words that two processes share, and the memory order of every access to them.
//
// Ring and doorbell are templates over such a policy. Production uses this one. The tests in
// tests/model run the same code over simulated memory with one order weakened at a time, which
// shows that each is needed. An order weaker than seq_cst without a stated reason is weak because
// nothing depends on it.
#pragma once

#include <atomic>
#include <cstdint>

#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "proto/shm/layout.h"

namespace mpsd {

struct SharedAtomics {
  using Word = SharedWord;
  using PrivateWord = std::atomic<uint32_t>;  // shared by threads of one process
  static constexpr uint32_t kRingEntries = mpsd::kRingEntries;

  // The tail orders an entry on its way to the consumer; the head orders it on its way back.
  static constexpr std::memory_order kEntryStore = std::memory_order_relaxed;
  static constexpr std::memory_order kEntryLoad = std::memory_order_relaxed;

  // Release and acquire: the consumer has read an entry before the producer overwrites it.
  static constexpr std::memory_order kHeadStore = std::memory_order_release;
  static constexpr std::memory_order kHeadLoad = std::memory_order_acquire;

  // Publishing and parking, see doorbell.h: each side stores its own word, then loads the other's.
  // At least one must see the other's store, so all four are seq_cst. The tail's store and load are
  // also a release and an acquire, which carry the entry and the record that it names.
  static constexpr std::memory_order kTailStore = std::memory_order_seq_cst;
  static constexpr std::memory_order kTailLoad = std::memory_order_seq_cst;
  static constexpr std::memory_order kParkStore = std::memory_order_seq_cst;
  static constexpr std::memory_order kParkedLoad = std::memory_order_seq_cst;

  // A bound check only. Every entry that it lets through was published by the tail that Pending()
  // loaded.
  static constexpr std::memory_order kTailCheck = std::memory_order_relaxed;

  // A publisher that still sees the sleeper as parked rings once too often, which costs a system
  // call.
  static constexpr std::memory_order kUnparkStore = std::memory_order_relaxed;

  // The sleeper loads the sequence before it stores its flag (a release). The waker loads that flag
  // (an acquire) before it stores the sequence. So the load cannot see the store. The kernel's lock
  // orders the store before the wake: the kernel either finds the word changed, or wakes the
  // sleeper.
  static constexpr std::memory_order kSequenceStore = std::memory_order_relaxed;
  static constexpr std::memory_order kSequenceLoad = std::memory_order_relaxed;

  static bool Wait(const Word* word, uint32_t expected, int64_t timeout_ns) {
    return platform::WaitOnWord(word, expected, timeout_ns);
  }
  static void Wake(const Word* word) { platform::WakeWord(word); }
};

}  // namespace mpsd

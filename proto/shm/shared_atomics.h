// SharedAtomics: the words that two processes share, and the memory order of every access to them.
//
// Ring and doorbell are templates over such a policy: production uses this one, tests/model runs
// the same code over simulated memory with one order weakened at a time and shows that each of
// them is needed. An order that is weaker than seq_cst without a reason beside it is weak because
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
  using PrivateWord = std::atomic<uint32_t>;  // of one process, though of several threads
  static constexpr uint32_t kRingEntries = mpsd::kRingEntries;

  // The entry is ordered by tail on its way to the consumer and by head on its way back.
  static constexpr std::memory_order kEntryStore = std::memory_order_relaxed;
  static constexpr std::memory_order kEntryLoad = std::memory_order_relaxed;

  // Release and acquire: the consumer has read an entry before the producer writes over it.
  static constexpr std::memory_order kHeadStore = std::memory_order_release;
  static constexpr std::memory_order kHeadLoad = std::memory_order_acquire;

  // Publishing and parking, as doorbell.h says: each of the two stores its own word and then loads
  // the other's, and one of them must see the other. All four are seq_cst. As a release store and
  // an acquire load, those of tail also carry the entry and the record that it names.
  static constexpr std::memory_order kTailStore = std::memory_order_seq_cst;
  static constexpr std::memory_order kTailLoad = std::memory_order_seq_cst;
  static constexpr std::memory_order kParkStore = std::memory_order_seq_cst;
  static constexpr std::memory_order kParkedLoad = std::memory_order_seq_cst;

  // A bound check: what it lets through was published by the tail that Pending() has loaded.
  static constexpr std::memory_order kTailCheck = std::memory_order_relaxed;

  // A sleeper that is still taken for parked is rung once too often, which costs a system call.
  static constexpr std::memory_order kUnparkStore = std::memory_order_relaxed;

  // The sleeper loads the sequence before it stores its flag (a release), the waker stores it after
  // it has loaded that flag (an acquire): the load happens before the store, so it cannot see it,
  // and the kernel, whose lock orders the store before the wake, finds the word changed or wakes.
  static constexpr std::memory_order kSequenceStore = std::memory_order_relaxed;
  static constexpr std::memory_order kSequenceLoad = std::memory_order_relaxed;

  static bool Wait(const Word* word, uint32_t expected, int64_t timeout_ns) {
    return platform::WaitOnWord(word, expected, timeout_ns);
  }
  static void Wake(const Word* word) { platform::WakeWord(word); }
};

}  // namespace mpsd

// SharedAtomics: the words that two processes share, and the memory order of every access to them.
//
// Ring and doorbell are templates over such a policy. The tests in tests/model weaken one order at
// a time, over simulated memory, which shows that each is needed. An order without a stated reason
// is weak because nothing depends on it.
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

  // The tail orders an entry on its way to the consumer, the head on its way back.
  static constexpr std::memory_order kEntryStore = std::memory_order_relaxed;
  static constexpr std::memory_order kEntryLoad = std::memory_order_relaxed;

  // The consumer has read an entry before the producer overwrites it.
  static constexpr std::memory_order kHeadStore = std::memory_order_release;
  static constexpr std::memory_order kHeadLoad = std::memory_order_acquire;

  // Each side stores its own word, then loads the other's (doorbell.h). At least one must see the
  // other's store. The tail's two accesses also carry the entry and its record.
  static constexpr std::memory_order kTailStore = std::memory_order_seq_cst;
  static constexpr std::memory_order kTailLoad = std::memory_order_seq_cst;
  static constexpr std::memory_order kParkStore = std::memory_order_seq_cst;
  static constexpr std::memory_order kParkedLoad = std::memory_order_seq_cst;

  // This only checks a bound: the tail that Pending() loaded published each entry.
  static constexpr std::memory_order kTailCheck = std::memory_order_relaxed;

  // A publisher that still sees the flag rings once too often.
  static constexpr std::memory_order kUnparkStore = std::memory_order_relaxed;

  // The sleeper loads the sequence before it stores its flag, and the waker loads that flag before
  // it stores the sequence. So the load cannot see the store. The kernel's lock orders the store
  // before the wake: either the word has changed, or the sleeper is woken.
  static constexpr std::memory_order kSequenceStore = std::memory_order_relaxed;
  static constexpr std::memory_order kSequenceLoad = std::memory_order_relaxed;

  static bool Wait(const Word* word, uint32_t expected, int64_t timeout_ns) {
    return platform::WaitOnWord(word, expected, timeout_ns);
  }
  static void Wake(const Word* word) { platform::WakeWord(word); }
};

}  // namespace mpsd

// SimulatedAtomics: the policy under which ring and doorbell run over a Machine, with memory orders
// that a test can weaken.
#pragma once

#include <atomic>
#include <cstdint>

#include "proto/shm/shared_atomics.h"
#include "tests/model/machine.h"

namespace mpsd::model {

inline constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
inline constexpr std::memory_order kAcquire = std::memory_order_acquire;
inline constexpr std::memory_order kRelease = std::memory_order_release;

// One shared word. Lives on its machine's thread.
class SimulatedWord {
 public:
  enum class Kind { kAtomic, kPlain };
  explicit SimulatedWord(Kind kind = Kind::kAtomic)
      : plain_(kind == Kind::kPlain), location_(Machine::current()->Add(plain_)) {}

  uint32_t load(std::memory_order order) const {
    return Machine::current()->Do(
        {plain_ ? Operation::Kind::kPlainLoad : Operation::Kind::kLoad, location_, order, 0});
  }
  void store(uint32_t value, std::memory_order order) {
    Machine::current()->Do(
        {plain_ ? Operation::Kind::kPlainStore : Operation::Kind::kStore, location_, order, value});
  }
  // Does an operation other than load and store with it.
  uint32_t Do(Operation::Kind kind, uint32_t value = 0) const {
    return Machine::current()->Do({kind, location_, std::memory_order_seq_cst, value});
  }
  int location() const { return location_; }

 private:
  bool plain_;
  int location_;
};

// A word that no other thread of a model looks at. Lives on its thread.
class PrivateWord {
 public:
  explicit PrivateWord(uint32_t value) : value_(value) {}
  uint32_t load(std::memory_order) const { return value_; }
  void store(uint32_t value, std::memory_order) { value_ = value; }

 private:
  uint32_t value_;
};

struct SimulatedAtomics {
  using Word = SimulatedWord;
  using PrivateWord = model::PrivateWord;
  static constexpr uint32_t kRingEntries = 2;

  // The orders of production, until a test weakens one.
  static inline std::memory_order kEntryStore = SharedAtomics::kEntryStore;
  static inline std::memory_order kEntryLoad = SharedAtomics::kEntryLoad;
  static inline std::memory_order kHeadStore = SharedAtomics::kHeadStore;
  static inline std::memory_order kHeadLoad = SharedAtomics::kHeadLoad;
  static inline std::memory_order kTailStore = SharedAtomics::kTailStore;
  static inline std::memory_order kTailLoad = SharedAtomics::kTailLoad;
  static inline std::memory_order kTailCheck = SharedAtomics::kTailCheck;
  static inline std::memory_order kParkStore = SharedAtomics::kParkStore;
  static inline std::memory_order kParkedLoad = SharedAtomics::kParkedLoad;
  static inline std::memory_order kUnparkStore = SharedAtomics::kUnparkStore;
  static inline std::memory_order kSequenceStore = SharedAtomics::kSequenceStore;
  static inline std::memory_order kSequenceLoad = SharedAtomics::kSequenceLoad;

  // A sleep without a time-out: one that nobody ends is a lost wake.
  static bool Wait(const Word* word, uint32_t expected, int64_t) {
    return word->Do(Operation::Kind::kWaitOnWord, expected) != 0;
  }
  static void Wake(const Word* word) { word->Do(Operation::Kind::kWakeWord); }
};

}  // namespace mpsd::model

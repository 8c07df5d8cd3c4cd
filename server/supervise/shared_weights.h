// SharedWeights: one copy of a model's weights in a device's memory, for all its workers there.
#pragma once

#include <cstdint>
#include <utility>

#include "proto/base/fd.h"

namespace mpsd {

// Then the model's workers stop sharing: each try delays a start, and a lasting fault recurs.
inline constexpr uint32_t kMostSharingFaults = 3;

// The first worker that has loaded the model exports its weights and hands over a descriptor; later
// workers use them if they equal their own.
//
//   Next()   kOwn      no one shares: the worker serves with what it has
//            kShare    the worker is the first: TakeAnswer() or Forget() follows
//            kUse      the worker gets the descriptor: TakeAnswer() or its death follows
//            kWait     another one is sharing now: Next() again after its answer or its death
//
// Owned by the group of the model's workers, one for each device. Lives on the supervisor's thread.
// Pure, but for the descriptor that it owns.
//
// Invariants:
//   1. At most one worker exports its weights at a time, and only while no exported copy exists.
//   2. A worker uses shared weights only if they have as many bytes as its own.
class SharedWeights {
 public:
  enum class Step { kOwn, kShare, kUse, kWait };

  // For a worker that has loaded the model and could share `bytes` of weights.
  Step Next(uint32_t worker, uint64_t bytes) {
    if (bytes == 0 || faults_ >= kMostSharingFaults) return Step::kOwn;
    if (memory_.valid()) return bytes == bytes_ ? Step::kUse : Step::kOwn;
    if (sharer_ != kNobody && sharer_ != worker) return Step::kWait;
    sharer_ = worker;
    bytes_ = bytes;
    return Step::kShare;
  }

  // The answer to kShare or kUse: `bytes` are now in shared memory, 0 for none. After kShare,
  // `memory` is the descriptor. After a failure the next worker shares anew; the old copy lasts
  // while workers map it.
  void TakeAnswer(uint32_t worker, uint64_t bytes, UniqueFd memory) {
    const bool shares = sharer_ == worker;
    if (bytes != bytes_ || (shares && !memory.valid())) return Fail(worker);
    if (!shares) {
      faults_ = 0;
      return;
    }
    sharer_ = kNobody;
    memory_ = std::move(memory);
  }

  // The process has ended. If it was asked to share, another may.
  void Forget(uint32_t worker) {
    if (sharer_ == worker) Fail(worker);
  }

  // Borrowed; -1: nothing is shared.
  int memory() const { return memory_.get(); }

 private:
  void Fail(uint32_t worker) {
    if (sharer_ == worker) sharer_ = kNobody;
    memory_.Reset();
    ++faults_;
  }

  static constexpr uint32_t kNobody = UINT32_MAX;

  uint32_t sharer_ = kNobody;  // was asked and has not answered
  UniqueFd memory_;
  uint64_t bytes_ = 0;
  uint32_t faults_ = 0;
};

}  // namespace mpsd

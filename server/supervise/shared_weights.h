// SharedWeights: one copy of a model's weights in a device's memory, for all its workers there.
//
// The first worker that has loaded the model moves its weights to memory that outlives its process,
// and hands over a descriptor, which the front end keeps without ever looking into it. Each other
// worker, and each that takes the place of a dead one, compares those weights with its own, and
// gives up its own if they are alike.
//
//   Next()   kOwn      no one shares: the worker serves with what it has
//            kShare    the worker is the first: TakeAnswer() or Forget() follows
//            kUse      the worker gets the descriptor: TakeAnswer() or its death follows
//            kWait     another one is sharing now: Next() again after its answer or its death
#pragma once

#include <cstdint>
#include <utility>

#include "proto/base/fd.h"

namespace mpsd {

// How often sharing may fail in a row before a model's workers keep weights of their own: each time
// costs the start of a worker some milliseconds, and a fault that lasts fails each time.
inline constexpr uint32_t kMostSharingFaults = 3;

// Owned by the group of the model's workers, one for each device. Lives on the supervisor's thread.
// Pure, but for the descriptor that it owns.
//
// Invariants:
//   1. At most one worker shares at a time, and nobody does while there is something to use.
//   2. What is used has the bytes that the asking worker would share.
class SharedWeights {
 public:
  enum class Step { kOwn, kShare, kUse, kWait };

  // What a worker does that has loaded the model and could share `bytes`.
  Step Next(uint32_t worker, uint64_t bytes) {
    if (bytes == 0 || faults_ >= kMostSharingFaults) return Step::kOwn;
    if (memory_.valid()) return bytes == bytes_ ? Step::kUse : Step::kOwn;
    if (sharer_ != kNobody && sharer_ != worker) return Step::kWait;
    sharer_ = worker;
    bytes_ = bytes;
    return Step::kShare;
  }

  // The worker's answer to kShare or kUse: it has `bytes` in shared memory now, 0 for none. Where
  // it shares, `memory` is its descriptor. A worker that could not share, or not use what is there,
  // lets the next one share anew. Those that use it already go on: the memory lasts as long as they
  // map it.
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

  // The worker's process has ended. One that was to share leaves its turn to another.
  void Forget(uint32_t worker) {
    if (sharer_ == worker) Fail(worker);
  }

  // The descriptor for kUse; borrowed. -1: nothing is shared.
  int memory() const { return memory_.get(); }

 private:
  void Fail(uint32_t worker) {
    if (sharer_ == worker) sharer_ = kNobody;
    memory_.Reset();
    ++faults_;
  }

  static constexpr uint32_t kNobody = UINT32_MAX;

  uint32_t sharer_ = kNobody;  // that was asked and has not answered
  UniqueFd memory_;
  uint64_t bytes_ = 0;
  uint32_t faults_ = 0;
};

}  // namespace mpsd

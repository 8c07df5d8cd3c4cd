// SlotLife: the states of a batch in a slot, with the rows and the output lease that it holds.
//
//   free → leased → running ─┬───────────────┬→ completed ─┬→ replying → free
//                            └→ abandoned ───┴→ dead ──────┘
//
// A batch leaves running and abandoned in only two ways: its completion record was consumed, or
// waitpid reported that the worker is gone (PoolWorkers::Detach). No deadline, cancellation or lie
// frees memory that a living worker may still touch.
#pragma once

#include <cstdint>

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {

enum class SlotState : uint8_t {
  kFree,       // waits for its next batch
  kLeased,     // requests left the line; no lane knows of it
  kRunning,    // record published: the lane reads the rows and writes the lease
  kAbandoned,  // all its requests have ended; the lane may still read and write
  kCompleted,  // the lane is done: the rows have ended, the outputs are checked
  kDead,       // its worker is confirmed dead: the rows go again, or have ended
  kReplying,   // replies are given, without the mutex; answers may pin the lease longer
};
inline constexpr uint32_t kSlotStates = 7;

constexpr bool MayGo(SlotState from, SlotState to) {
  switch (from) {
    case SlotState::kFree:
      return to == SlotState::kLeased;
    case SlotState::kLeased:
      return to == SlotState::kRunning;
    case SlotState::kRunning:
      return to == SlotState::kAbandoned || to == SlotState::kCompleted || to == SlotState::kDead;
    case SlotState::kAbandoned:
      return to == SlotState::kCompleted || to == SlotState::kDead;
    case SlotState::kCompleted:
    case SlotState::kDead:
      return to == SlotState::kReplying;
    case SlotState::kReplying:
      return to == SlotState::kFree;
  }
  return false;
}

static_assert(!MayGo(SlotState::kRunning, SlotState::kFree));
static_assert(!MayGo(SlotState::kAbandoned, SlotState::kFree));
static_assert(!MayGo(SlotState::kAbandoned, SlotState::kRunning), "an ended request stays ended");

// Thread-compatible: the pool's mutex guards it, or the replying thread owns it.
class SlotLife {
 public:
  SlotState state() const { return state_; }

  bool with_lane() const {
    return state_ == SlotState::kRunning || state_ == SlotState::kAbandoned;
  }

  // REQUIRES: MayGo(state(), next).
  void Go(SlotState next) {
    MPSD_CHECK(MayGo(state_, next));
    state_ = next;
  }

 private:
  SlotState state_ = SlotState::kFree;
};

// A batch's id includes its worker's epoch, so that an earlier incarnation's record is never taken
// for a later one's.
inline constexpr uint32_t kEpochBits = 16;
constexpr uint64_t BatchIdOf(uint64_t sequence, uint32_t epoch) {
  return sequence << kEpochBits | (epoch & ((1U << kEpochBits) - 1));
}
constexpr bool IsOfEpoch(uint64_t batch_id, uint32_t epoch) {
  return ((batch_id ^ epoch) & ((1U << kEpochBits) - 1)) == 0;
}
static_assert(IsOfEpoch(BatchIdOf(1ULL << 40, 0x1'0007), 7));

// A lane has at most kMaxLaneDepth batches, fewer than kRingEntries. So Push() finds room unless
// the peer's index is a lie.

}  // namespace mpsd

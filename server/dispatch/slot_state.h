// Slot: the states of a batch that a lane has, with the rows and the output lease that it holds.
//
//   free → leased → running ─┬───────────────┬→ completed ─┬→ replying → free
//                            └→ abandoned ───┴→ dead ──────┘
//
// The table below is the whole list of legal transitions; Slot::Go() is the one funnel that holds
// the pool to it. From running and abandoned only two ways lead on: the completion record was
// consumed, or waitpid has said that the worker is gone (Pool::Detach). No deadline, cancellation
// or lie frees the rows and the lease of a batch that a living worker may still read or write.
#pragma once

#include <cstdint>

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {

enum class SlotState : uint8_t {
  kFree,       // nothing is held; the object waits to be used again
  kLeased,     // rows are taken out of the line, the output extent is leased; no lane knows of it
  kRunning,    // its record is published: the lane reads the rows and writes the lease
  kAbandoned,  // nobody waits for it any more; the lane may still read and write
  kCompleted,  // the lane is done: the rows have ended, the outputs are checked
  kDead,       // its worker is confirmed dead: the rows go again, or have ended
  kReplying,   // outside the lock: replies are given; answers may pin the lease beyond this
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

// What a lane may still touch is never free in one step.
static_assert(!MayGo(SlotState::kRunning, SlotState::kFree));
static_assert(!MayGo(SlotState::kAbandoned, SlotState::kFree));
static_assert(!MayGo(SlotState::kAbandoned, SlotState::kRunning), "nobody waits for it again");

// Thread-compatible: guarded by the pool's mutex; while replying, owned by whoever replies.
class SlotLife {
 public:
  SlotState state() const { return state_; }

  // True while a lane may read its rows and write its lease.
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

// A batch's id names its worker's incarnation too, so that what an earlier one left behind is never
// taken for this one's: the upper bits count up for the life of a pool, the lower are the epoch's.
inline constexpr uint32_t kEpochBits = 16;
constexpr uint64_t BatchIdOf(uint64_t sequence, uint32_t epoch) {
  return sequence << kEpochBits | (epoch & ((1U << kEpochBits) - 1));
}
constexpr bool IsOfEpoch(uint64_t batch_id, uint32_t epoch) {
  return ((batch_id ^ epoch) & ((1U << kEpochBits) - 1)) == 0;
}
static_assert(IsOfEpoch(BatchIdOf(1ULL << 40, 0x1'0007), 7));

// Credits. A lane has at most kMaxLaneDepth batches; each has one entry in its submit ring until
// the lane takes it, then one in its completion ring until the front end does. So neither ring ever
// holds more than that, fewer than kRingEntries (limits.h), and Push() finds room unless the peer's
// index is a lie.

}  // namespace mpsd

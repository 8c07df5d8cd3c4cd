// JudgeLoss: what becomes of a request whose worker is gone. Pure.
#pragma once

#include <cstdint>

#include "proto/base/limits.h"
#include "server/lanes/worker_progress.h"

namespace mpsd {

// A worker may die of a request, or with it. Which of the two cannot be known while several were
// inside; so the front end tries again, and narrows it down:
//
//   the worker was killed from outside ──▶ again, with others       (the second time: as a suspect)
//   it crashed with several inside ──────▶ each is a suspect, and from now on runs alone
//   it crashed with this one alone ──────▶ the first crash of it: a suspect, which is tried again
//                                          the second: a strike. It ends, its content is refused
//
// A crash is a death of the process's own: it exited, got a signal such as SIGSEGV, or hung. Such a
// signal may also come from outside, so one death convicts nobody. The rest is no request's doing
// as far as anyone can tell: a kill from outside or by the kernel, a lost device, a lie.
//
// Example: B is deadly, and its first batch has A and C too.
//
//   [A B C]   crash: all three are suspects          the first worker is lost
//   [A]       answered
//   [B]       crash: a strike, and B ends            the second worker is lost
//   [C]       answered
//
// A request is dispatched at most kMaxDispatches times, so that nothing kills workers for ever.
// WorkerLoss carries the verdict out, under the pool's mutex, once the death is confirmed.

// What is known of a request that was in a worker when the worker ended. A value.
struct Loss {
  WorkerEnd end = WorkerEnd::kKilled;
  bool was_alone = false;           // it was the only request of the only batch that the worker had
  bool is_suspect = false;          // already before this
  bool has_crashed_before = false;  // a worker that had it, or alone another of its content
  uint32_t dispatches = 1;          // this one included
  uint32_t answers = 0;             // of a decoupled model, that its client has got
  bool is_pinned = false;           // to the lane that is gone
};

enum class LossVerdict : uint8_t {
  kAgain,         // it joins its line
  kAgainSuspect,  // it joins the suspects: from now on it runs alone
  kStrike,        // it ends: it has crashed its worker, and no other request can have
  kWorkerLost,    // it ends: it has had its chances, or needs what is gone with the worker
};

// The first rule that holds decides: a strike, then the end of patience, then another try. So a
// request that crashes its second worker alone is struck even at its last dispatch, and its content
// is known from then on; one that is merely unlucky three times ends without a mark.
constexpr LossVerdict JudgeLoss(const Loss& loss) {
  const bool crashed = loss.end == WorkerEnd::kCrashed;
  if (crashed && loss.was_alone && loss.has_crashed_before) return LossVerdict::kStrike;
  // A client that has some answers of one worker is not given the others of another. One whose
  // earlier requests have left something in a worker is not given answers of one that lacks it.
  const bool needs_worker = loss.answers > 0 || loss.is_pinned;
  if (loss.dispatches >= kMaxDispatches || needs_worker) return LossVerdict::kWorkerLost;
  // Twice is no accident: the request may be what makes the kernel kill its worker for memory.
  const bool suspect = loss.is_suspect || crashed || loss.dispatches >= 2;
  return suspect ? LossVerdict::kAgainSuspect : LossVerdict::kAgain;
}

}  // namespace mpsd

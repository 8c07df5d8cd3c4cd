// JudgeLoss: what happens to a request whose worker is gone. Pure.
#pragma once

#include <cstdint>

#include "proto/base/limits.h"
#include "server/pool/lanes/worker_progress.h"

namespace mpsd {

// A worker may die because of a request, or with it. With several requests inside nobody can tell;
// so the front end tries again, and narrows it down:
//
//   the worker was killed from outside ──▶ again, with others       (the second time: as a suspect)
//   it crashed with several inside ──────▶ each is a suspect, and from now on runs alone
//   it crashed with this one alone ──────▶ the first crash of it: a suspect, which is tried again
//                                          the second: a strike. It ends, its content is refused
//
// A crash is a death of the process's own: it exited, got a signal such as SIGSEGV, or hung. Such a
// signal may also come from outside, so one death convicts nobody. Other deaths seem to be no
// request's doing: a kill from outside or by the kernel, a lost device, a lie.
//
// Example: B is deadly, and its first batch also has A and C.
//
//   [A B C]   crash: all three are suspects          the first worker is lost
//   [A]       answered
//   [B]       crash: a strike, and B ends            the second worker is lost
//   [C]       answered
//
// A request is dispatched at most kMaxDispatches times, so that nothing kills workers for ever.
// WorkerLoss carries the verdict out, under the pool's mutex, once the death is confirmed.

// Facts about a request that was in a worker at its end. A value.
struct Loss {
  WorkerEnd end = WorkerEnd::kKilled;
  bool was_alone = false;           // the only request of the worker's only batch
  bool is_suspect = false;          // before this loss
  bool has_crashed_before = false;  // a worker with it, or alone with another of its content
  uint32_t dispatches = 1;          // including this one
  uint32_t answers = 0;             // that its client has got from a decoupled model
  bool is_pinned = false;           // bound to the lane that is gone
};

enum class LossVerdict : uint8_t {
  kAgain,         // it joins its line
  kAgainSuspect,  // it joins the suspects, and runs alone
  kStrike,        // it ends: only it can have crashed its worker
  kWorkerLost,    // it ends: no more tries, or it needs what was lost
};

// The first rule that holds decides: a strike, the end of patience, another try. So a request that
// crashes its second worker alone is struck even at its last dispatch, and its content is then
// known. A request that is merely unlucky three times ends without a mark.
constexpr LossVerdict JudgeLoss(const Loss& loss) {
  const bool crashed = loss.end == WorkerEnd::kCrashed;
  if (crashed && loss.was_alone && loss.has_crashed_before) return LossVerdict::kStrike;
  // A client with some answers of one worker gets no others from another. If a client's earlier
  // requests left something in a worker, it gets no answers from a worker that lacks it.
  const bool needs_worker = loss.answers > 0 || loss.is_pinned;
  if (loss.dispatches >= kMaxDispatches || needs_worker) return LossVerdict::kWorkerLost;
  // Twice is no accident: the kernel may kill the worker for the memory that this request needs.
  const bool suspect = loss.is_suspect || crashed || loss.dispatches >= 2;
  return suspect ? LossVerdict::kAgainSuspect : LossVerdict::kAgain;
}

}  // namespace mpsd

// JudgeLoss: what happens to a request whose worker is gone. Pure.
#pragma once

#include <cstdint>

#include "proto/base/limits.h"
#include "server/pool/lanes/worker_progress.h"

namespace mpsd {

// A worker may die because of a request, or with it. With several requests inside nobody can tell,
// so the front end tries again:
//
//   the worker was killed from outside ──▶ again, with others       (the second time: as a suspect)
//   it crashed with several inside ──────▶ each is a suspect, and from now on runs alone
//   it crashed with this one alone ──────▶ the first crash of it: a suspect, which is tried again
//                                          the second: a strike. It ends, its content is refused
//
// A crash is an exit, a signal such as SIGSEGV, or a hang. A signal may also come from outside, so
// one death convicts nobody. Other deaths (a kill, a lost device, a lie) are no request's doing. A
// request is dispatched at most kMaxDispatches times.

// A request that was in a worker at its end. A value.
struct Loss {
  WorkerEnd end = WorkerEnd::kKilled;
  bool was_alone = false;           // the only request of the worker's only batch
  bool is_suspect = false;          // before this loss
  bool has_crashed_before = false;  // a worker with it, or alone with another of its content
  uint32_t dispatches = 1;          // including this one
  uint32_t answers = 0;             // answers that its client has got
  bool is_pinned = false;           // bound to the lane that is gone
};

enum class LossVerdict : uint8_t {
  kAgain,         // joins its line
  kAgainSuspect,  // joins the suspects, and runs alone
  kStrike,        // ends: only it can have crashed its worker
  kWorkerLost,    // ends: no more tries, or it needs what was lost
};

// A strike comes first, so that the content of a request that crashes at its last dispatch is
// known.
constexpr LossVerdict JudgeLoss(const Loss& loss) {
  const bool crashed = loss.end == WorkerEnd::kCrashed;
  if (crashed && loss.was_alone && loss.has_crashed_before) return LossVerdict::kStrike;
  // A client with some answers of one worker gets no others from another, nor from one that lacks
  // what its earlier requests left behind.
  const bool needs_worker = loss.answers > 0 || loss.is_pinned;
  if (loss.dispatches >= kMaxDispatches || needs_worker) return LossVerdict::kWorkerLost;
  // Twice is no accident: the kernel may kill the worker for this request's memory.
  const bool suspect = loss.is_suspect || crashed || loss.dispatches >= 2;
  return suspect ? LossVerdict::kAgainSuspect : LossVerdict::kAgain;
}

}  // namespace mpsd

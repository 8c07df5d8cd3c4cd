// PoolWorkers: the face of a pool that workers join and leave.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "server/dispatch/pool_carrier.h"
#include "server/dispatch/pool_parts.h"
#include "server/lanes/worker_link.h"
#include "server/lanes/worker_progress.h"

namespace mpsd {

// Owned by a Pool. Called by the supervisor, which starts, watches and ends the processes.
// Thread-safe. A worker is named by its number within the model (WorkerLink::worker()); a process
// that replaces another has the same number and a later epoch. Never starts or ends a worker: when
// the pool catches a worker lying, it tells PoolKeeper and gives the worker nothing more.
//
// Each method holds the pool's mutex for a moment. Attach(), ExpectAt() and
// Detach() then carry out what they found (PoolCarrier), so lanes are woken and replies given on
// the supervisor's thread.
//
// What Detach() finds of a dead worker, and what becomes of it:
//   a completion that was published   answered once it was checked, unless the worker has lied
//   every other batch                 WorkerLoss judges each of its requests
//   answers that clients still read   keep the link, and so the worker's segment
//   requests in their lines           stay there for the workers that are left or that come
//
// The order of a worker's life here: LinkOptions() → Attach() → maybe Quiesce() → Detach().
class PoolWorkers {
 public:
  // Both outlive this.
  PoolWorkers(PoolParts* parts, PoolCarrier* carrier) : parts_(parts), carrier_(carrier) {}

  // What the link of a worker with so many lanes has to be made with. REQUIRES: the model's spec is
  // complete.
  WorkerLink::Options LinkOptions(uint32_t worker, uint32_t epoch, uint32_t lanes,
                                  AreaKind kind = AreaKind::kUsual) const;

  // The worker serves from now on, and gets batches before this returns. REQUIRES: none of the same
  // number is attached, and the worker has mapped every segment of PoolMemory::Descriptors().
  void Attach(std::shared_ptr<WorkerLink> link);

  // The worker gets no batch any more; it finishes those that it has.
  void Quiesce(uint32_t worker);

  // While it is paused, the worker gets no batch; it keeps those that it has. REQUIRES: it was not
  // quiesced.
  void SetPaused(uint32_t worker, bool is_paused);

  // True when an answer has come that is larger than the largest lease of that worker.
  bool IsTooSmall(uint32_t worker) const;

  // There is no memory for a larger worker, and none is tried before `until_ns`. Requests that are
  // held back for one end. Until then answers that need one are refused for good.
  void KeepSize(int64_t until_ns);

  // What a worker has done; empty when it is not attached.
  WorkerProgress Progress(uint32_t worker) const;

  // While no worker is attached, none will serve before `when_ns`: requests whose deadline is not
  // after that are refused, and those that wait end. INT64_MIN: a worker may come at any moment.
  void ExpectAt(int64_t when_ns);

  // What the worker completed before it died is answered; its other requests go again, or end.
  // Returns what its death was put down to. REQUIRES: the worker is confirmed dead, since another
  // may write to its rows from now on.
  Conviction Detach(uint32_t worker, WorkerEnd end);

 private:
  uint64_t LargestAnswerBytes() const;
  void NoteWorkers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_->mu);

  PoolParts* const parts_;
  PoolCarrier* const carrier_;
};

}  // namespace mpsd

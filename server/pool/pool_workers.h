// PoolWorkers: a pool's face for workers that join and leave.
#pragma once

#include <cstdint>
#include <memory>

#include "server/pool/lanes/worker_link.h"
#include "server/pool/lanes/worker_progress.h"

namespace mpsd {

class PoolCarrier;
struct PoolParts;

// Owned by a Pool, called by the supervisor. Thread-safe. A worker is named by its number
// (WorkerLink::worker()), which its replacement gets too. Attach(), ExpectAt() and Detach() wake
// lanes and give replies on the caller's thread.
//
// Detach() handles what a dead worker leaves:
//   a completion that was published   answered once it was checked, unless the worker has lied
//   every other batch                 WorkerLoss judges each of its requests
//   answers that clients still read   keep the link, and so the worker's segment
//   requests in their lines           stay there for the workers that are left or that come
//
// The order of a worker's life here: LinkOptions() → Attach() → maybe Quiesce() → Detach().
class PoolWorkers {
 public:
  PoolWorkers(PoolParts* parts, PoolCarrier* carrier) : parts_(parts), carrier_(carrier) {}

  // REQUIRES: the model's spec is complete.
  WorkerLink::Options LinkOptions(uint32_t worker, uint32_t epoch, uint32_t lanes,
                                  AreaKind kind = AreaKind::kUsual) const;

  // The worker gets batches before this returns. REQUIRES: no worker with its number is attached,
  // and it has mapped every segment of PoolMemory::Descriptors().
  void Attach(std::shared_ptr<WorkerLink> link);

  // The worker gets no more batches; it finishes those that it has.
  void Quiesce(uint32_t worker);

  // A paused worker keeps its batches. REQUIRES: it was not quiesced.
  void SetPaused(uint32_t worker, bool is_paused);

  // Whether an answer has come that exceeds the worker's largest lease.
  bool IsTooSmall(uint32_t worker) const;

  // There is no memory for a larger worker before `until_ns`. Requests held for one end, and
  // answers that need one are refused for good.
  void KeepSize(int64_t until_ns);

  // Empty if the worker is not attached.
  WorkerProgress Progress(uint32_t worker) const;

  // No worker will serve before `when_ns` while none is attached: requests with an earlier deadline
  // end. INT64_MIN: a worker may come at any moment.
  void ExpectAt(int64_t when_ns);

  // Returns the cause of death. REQUIRES: the worker is confirmed dead, since another may write to
  // its rows from now on.
  Conviction Detach(uint32_t worker, WorkerEnd end);

 private:
  uint64_t LargestAnswerBytes() const;

  PoolParts* const parts_;
  PoolCarrier* const carrier_;
};

}  // namespace mpsd

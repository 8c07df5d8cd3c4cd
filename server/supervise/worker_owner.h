// WorkerOwner: calls that a SupervisedWorker makes to the group that owns it.
//
// The interface shows which calls lead back from worker to group, and lets tests do without a
// group. The order for one incarnation:
//
//   OnLoaded() ─▶ OnWeights(), if it was asked for them ─▶ OnServing() ─▶ OnDeath()
//        └──────────────┴─ TakeMemory()
//
// A worker that dies before it serves goes straight to OnDeath().
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/base/fd.h"
#include "proto/link/messages.h"
#include "server/supervise/process/exit_reason.h"
#include "server/supervise/slab_announcer.h"
#include "server/supervise/supervised_model.h"

namespace mpsd {

class SupervisedWorker;

struct WorkerDeath {
  ExitReason reason;
  Conviction conviction = Conviction::kNone;
  bool served_well = false;  // the incarnation had served longer than kGoodServiceNs
  bool lasting = false;      // no incarnation follows: it would fail too
};

// A worker carries out the life of one process. The owner decides what concerns other workers or
// the whole model: the spec, the memory, when the next incarnation starts. Implemented by
// WorkerGroup. Lives on the supervisor's thread; outlives its workers. No method blocks.
class WorkerOwner {
 public:
  virtual ~WorkerOwner() = default;

  // Constant while the owner lives.
  virtual const SupervisedModel& model() const = 0;

  // Null until OnLoaded() first returned OK, never null afterwards.
  virtual SlabAnnouncer* slabs() = 0;

  // The worker in kLoading has loaded the model. On OK the owner has called TakeLanes(). It has
  // then called AttachSegments(), so that the worker is in kWarming, or AskForWeights() or
  // WaitForWeights(). On an error the caller kills the worker.
  virtual absl::Status OnLoaded(SupervisedWorker* worker, const LoadReport& report) = 0;

  // The worker has answered AskForWeights(), with `memory` if it shares. On OK the owner has called
  // AttachSegments(). On an error the caller kills the worker.
  virtual absl::Status OnWeights(SupervisedWorker* worker, const WeightsTold& told,
                                 UniqueFd memory) = 0;

  // The worker in kServing gets batches from now on. `start_took_ns` counts from the spawn.
  virtual void OnServing(SupervisedWorker* worker, int64_t start_took_ns) = 0;

  // The worker is in kWaiting again: its process is reaped, and its requests were dispatched again
  // or have ended. The owner may dismiss the worker here, but must not destroy it.
  virtual void OnDeath(SupervisedWorker* worker, const WorkerDeath& death) = 0;

  // Takes shared memory from the budget for `what`. On RESOURCE_EXHAUSTED the owner has also told
  // the threads that wait for the models' start.
  virtual absl::Status TakeMemory(uint64_t bytes, const std::string& what) = 0;

  // Shared memory was in the budget but could not be created. Logs `why`, which may hold what
  // clients must not see; returns what a client may be told.
  virtual absl::Status NoSharedMemory(const absl::Status& why) = 0;
};

}  // namespace mpsd

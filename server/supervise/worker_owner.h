// WorkerOwner: what a SupervisedWorker needs of the group that owns it.
//
// A group calls its workers, and they call it back: the interface says which calls lead back, and
// lets a test of a worker do without a group. The order for one incarnation:
//
//   OnLoaded() ─▶ OnWeights(), if it was asked for them ─▶ OnServing() ─▶ OnDeath()
//        └──────────────┴─ TakeMemory()
//
// A worker that dies before it serves goes to OnDeath() from wherever it is.
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

// A worker's death, as its owner hears of it.
struct WorkerDeath {
  ExitReason reason;
  Conviction conviction = Conviction::kNone;
  bool served_well = false;  // the incarnation had served longer than kGoodServiceNs
  bool lasting = false;      // no incarnation follows: it would fail alike
};

// The worker carries out the life of one process. Whatever concerns other workers or the whole
// model is the owner's to decide: the spec, the memory, when the next incarnation starts.
// Implemented by WorkerGroup. Lives on the supervisor's thread; outlives its workers. No method
// blocks.
class WorkerOwner {
 public:
  virtual ~WorkerOwner() = default;

  // Constant for the life of the owner.
  virtual const SupervisedModel& model() const = 0;

  // Null until OnLoaded() was OK for the first time, never null afterwards.
  virtual SlabAnnouncer* slabs() = 0;

  // The worker in kLoading has loaded the model. On OK the owner has called the worker's
  // TakeLanes(), and either AttachSegments(), so that the worker is in kWarming, or AskForWeights()
  // or WaitForWeights(). On an error the caller kills the worker.
  virtual absl::Status OnLoaded(SupervisedWorker* worker, const LoadReport& report) = 0;

  // The worker has answered AskForWeights(), with `memory` if it shares. On OK the owner has called
  // AttachSegments(). On an error the caller kills the worker.
  virtual absl::Status OnWeights(SupervisedWorker* worker, const WeightsTold& told,
                                 UniqueFd memory) = 0;

  // The worker in kServing gets batches from now on. The start took `start_took_ns` from spawn on.
  virtual void OnServing(SupervisedWorker* worker, int64_t start_took_ns) = 0;

  // The worker is in kWaiting again: its process is reaped and its requests were dispatched again
  // or have ended. The owner may dismiss the worker here, but must not destroy it.
  virtual void OnDeath(SupervisedWorker* worker, const WorkerDeath& death) = 0;

  // Takes shared memory from the budget for `what`. On RESOURCE_EXHAUSTED the owner has also told
  // those who wait for the start of the models.
  virtual absl::Status TakeMemory(uint64_t bytes, const std::string& what) = 0;

  // Shared memory was in the budget but could not be created. Logs `why`, which may name what is
  // none of a client's business, and returns what a client may be told.
  virtual absl::Status NoSharedMemory(const absl::Status& why) = 0;
};

}  // namespace mpsd

// WorkerOwner: calls of a SupervisedWorker to the group that owns it.
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
  bool served_well = false;  // longer than kGoodServiceNs
  bool lasting = false;      // the next incarnation would fail too
};

// Decides what concerns other workers or the whole model. For one incarnation:
//
//   OnLoaded() ─▶ OnWeights(), if it was asked for them ─▶ OnServing() ─▶ OnDeath()
//        └──────────────┴─ TakeMemory()
//
// OnDeath() may come at any time. Implemented by WorkerGroup, so that tests do without one. It
// outlives its workers. No method blocks. Lives on the supervisor's thread.
class WorkerOwner {
 public:
  virtual ~WorkerOwner() = default;

  // Constant.
  virtual const SupervisedModel& model() const = 0;

  // Null until OnLoaded() first returned OK, never afterwards.
  virtual SlabAnnouncer* slabs() = 0;

  // The worker is in kLoading. On OK the owner has called TakeLanes(), then AttachSegments(),
  // AskForWeights() or WaitForWeights(). On an error the caller kills the worker.
  virtual absl::Status OnLoaded(SupervisedWorker* worker, const LoadReport& report) = 0;

  // The answer to AskForWeights(), with `memory` if it shares. On OK the owner has called
  // AttachSegments(). On an error the caller kills the worker.
  virtual absl::Status OnWeights(SupervisedWorker* worker, const WeightsTold& told,
                                 UniqueFd memory) = 0;

  // The worker gets batches from now on. `start_took_ns` counts from the spawn.
  virtual void OnServing(SupervisedWorker* worker, int64_t start_took_ns) = 0;

  // The worker is in kWaiting again: its process is reaped, its requests were dispatched again or
  // have ended. The owner may dismiss the worker here, but must not destroy it.
  virtual void OnDeath(SupervisedWorker* worker, const WorkerDeath& death) = 0;

  // On RESOURCE_EXHAUSTED the owner has told the threads that wait for the start.
  virtual absl::Status TakeMemory(uint64_t bytes, const std::string& what) = 0;

  // Shared memory could not be created. Logs `why`, which clients must not see; returns what they
  // may be told.
  virtual absl::Status NoSharedMemory(const absl::Status& why) = 0;
};

}  // namespace mpsd

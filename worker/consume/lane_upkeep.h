// LaneUpkeep: a lane's work between batches: keeping the model warm and trimming memory.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/base/memory_pressure.h"
#include "proto/link/warm_up_sample.h"
#include "proto/shm/layout.h"
#include "worker/consume/run_gate.h"
#include "worker/consume/upkeep_policy.h"
#include "worker/model/model.h"

namespace mpsd {

// Carries out what UpkeepPolicy decides. Owned by the lane, lives on its thread. Each call does at
// most one thing, so a batch that arrives meanwhile waits for one run or one trim. The watchdog
// counts that wait as the batch's own time, and finds a run that never ends like any silent lane.
//
// Only a worker's first lane trims; on mps this lane has the device's main stream. A trim has the
// device to itself (RunGate): it begins when no lane runs a batch, and new batches wait for its
// end.
class LaneUpkeep {
 public:
  // How long a trim waits for the other lanes' batches. The lane gives no sign of life meanwhile:
  // the front end kills a lane without a batch after kIdleBudgetNs (watchdog_policy.h).
  static constexpr int64_t kTrimWaitNs = 5 * kNsPerSecond;

  struct Options {
    int64_t keep_warm_ns = 0;                  // 0: never
    absl::Span<const WarmUpSample> samples{};  // the first one is run; empty: zeros are run
    RunGate* gate = nullptr;                   // null: memory is not trimmed
    int64_t trim_wait_ns = kTrimWaitNs;
  };

  // All arguments and the samples outlive this object. Counts go to `report`.
  LaneUpkeep(uint32_t lane, Model* model, const Clock* clock, const Options& options,
             LaneReport* report);

  // The lane has no batch. DATA_LOSS: the device is lost for this process. A run that fails for
  // another reason is reported on stderr, and is the last.
  absl::Status WhenIdle(MemoryPressure pressure);

  // A batch has ended at `ended_ns`, and its completion was announced.
  void AfterBatch(int64_t ended_ns, MemoryPressure pressure);

  RunGate* gate() const { return options_.gate; }

 private:
  bool TrimIfDue(MemoryPressure pressure, bool after_batch);
  absl::Status Run();

  const uint32_t lane_;
  Model* const model_;
  const Clock* const clock_;
  const Options options_;
  const bool trims_;
  LaneReport* const report_;
  UpkeepPolicy policy_;
};

}  // namespace mpsd

// LaneUpkeep: what a lane does beside its batches: it keeps its model warm, and trims its memory.
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

// Carries out what UpkeepPolicy decides. Owned by the lane, lives on its thread, and is asked when
// the lane has no batch, and after each batch. Each time it does one thing at most, so that a batch
// that arrives meanwhile waits for one run, or for a trim. The run is of one row of zeros, or of
// the first sample, which may have max_batch_size rows. The watchdog counts the wait as the batch's
// own time. A run that never ends is found as any other lane that is silent.
//
// Of a worker's lanes the first one trims, which on mps has the device's main stream. A trim has
// the device alone: it begins when no lane runs a batch, and the batches that come wait for its end
// (RunGate).
class LaneUpkeep {
 public:
  // How long a trim waits for the other lanes' batches. The lane gives no sign of life meanwhile:
  // the front end kills a lane without a batch after kIdleBudgetNs (watchdog_policy.h).
  static constexpr int64_t kTrimWaitNs = 5 * kNsPerSecond;

  struct Options {
    int64_t keep_warm_ns = 0;                  // 0: never
    absl::Span<const WarmUpSample> samples{};  // one of which is run; none: zeros
    RunGate* gate = nullptr;                   // null: the memory is not trimmed
    int64_t trim_wait_ns = kTrimWaitNs;
  };

  // All outlive it, and so do the samples. `report` gets the counts.
  LaneUpkeep(uint32_t lane, Model* model, const Clock* clock, const Options& options,
             LaneReport* report);

  // The lane has no batch. DATA_LOSS: the device is lost for this process. A run that fails for
  // another reason is said on stderr, and is the last.
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

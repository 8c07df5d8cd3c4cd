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
// most one thing. A batch that arrives meanwhile waits, and the watchdog counts that time as its
// own.
//
// Only the first lane trims; on mps this lane has the device's main stream. A trim has the device
// to itself (RunGate).
class LaneUpkeep {
 public:
  // How long a trim waits for other lanes' batches. Less than kIdleBudgetNs (watchdog_policy.h),
  // after which the front end kills a silent lane.
  static constexpr int64_t kTrimWaitNs = 5 * kNsPerSecond;

  struct Options {
    int64_t keep_warm_ns = 0;                  // 0: never
    absl::Span<const WarmUpSample> samples{};  // the first one is run; empty: zeros are run
    RunGate* gate = nullptr;                   // null: memory is not trimmed
    int64_t trim_wait_ns = kTrimWaitNs;
  };

  // All arguments and the samples outlive this object.
  LaneUpkeep(uint32_t lane, Model* model, const Clock* clock, const Options& options,
             LaneReport* report);

  // The lane has no batch. DATA_LOSS: the device is lost. After another error, which goes to
  // stderr, no run follows.
  absl::Status WhenIdle(MemoryPressure pressure);

  // A batch has ended, and its completion was announced.
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

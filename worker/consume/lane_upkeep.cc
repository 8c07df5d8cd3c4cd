#include "worker/consume/lane_upkeep.h"

#include <cstdio>
#include <string>

#include "worker/execute/warm_up.h"

namespace mpsd {

LaneUpkeep::LaneUpkeep(uint32_t lane, Model* model, const Clock* clock, const Options& options,
                       LaneReport* report)
    : lane_(lane),
      model_(model),
      clock_(clock),
      options_(options),
      trims_(lane == 0 && options.gate != nullptr && model->traits().gives_memory_back),
      report_(report),
      policy_(options.keep_warm_ns, clock->NowNs()) {}

absl::Status LaneUpkeep::WhenIdle(MemoryPressure pressure) {
  if (TrimIfDue(pressure, /*after_batch=*/false)) return absl::OkStatus();
  return policy_.IsRunDue(clock_->NowNs()) ? Run() : absl::OkStatus();
}

void LaneUpkeep::AfterBatch(int64_t ended_ns, MemoryPressure pressure) {
  policy_.BatchEnded(ended_ns);
  // Without that pressure the policy never trims here.
  if (pressure == MemoryPressure::kCritical) TrimIfDue(pressure, /*after_batch=*/true);
}

// A trim waits for other lanes' current batches only under critical pressure. If a batch outlasts
// the wait, the next call tries again.
bool LaneUpkeep::TrimIfDue(MemoryPressure pressure, bool after_batch) {
  if (!trims_) return false;
  ModelMemory* const memory = model_->memory();
  const uint64_t unused_bytes = memory->UnusedMemoryBytes();
  if (!policy_.IsTrimDue({pressure, after_batch, unused_bytes}, clock_->NowNs())) return false;
  const int64_t wait_ns = pressure == MemoryPressure::kCritical ? options_.trim_wait_ns : 0;
  if (!options_.gate->Alone(wait_ns, [memory] { memory->ReleaseUnusedMemory(); })) return false;
  report_->memory_trims.fetch_add(1, std::memory_order_relaxed);
  const uint64_t left_bytes = memory->UnusedMemoryBytes();
  policy_.Trimmed(unused_bytes > left_bytes ? unused_bytes - left_bytes : 0, clock_->NowNs());
  return true;
}

absl::Status LaneUpkeep::Run() {
  const RunGate::Run run(options_.gate);
  const absl::Status status = RunToKeepWarm(model_, lane_, options_.samples);
  policy_.Ran(clock_->NowNs());
  if (status.ok()) {
    report_->keep_warm_runs.fetch_add(1, std::memory_order_relaxed);
    return status;
  }
  policy_.StopRuns();
  std::fprintf(stderr, "lane %u is not kept warm: %s\n", lane_,
               std::string(status.message()).c_str());
  return status;
}

}  // namespace mpsd
